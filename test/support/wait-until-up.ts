import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { vi } from "vitest";

/**
 * Waits until a server that runs in a process of its own answers.
 *
 * @param url the page to ask.
 * @param server the process of the server.
 * @param isUp whether a reply means that the server is up.
 * @throws Error if the process exits first, or no such reply comes within `timeout` milliseconds.
 */
export async function waitUntilUp(
  url: string,
  server: ChildProcess,
  { isUp = ({ ok }: Response) => ok, timeout = 30_000 } = {},
): Promise<void> {
  if (server.exitCode !== null) throw new Error(`the server exited with code ${server.exitCode}`);
  const answered = vi.waitFor(
    async () => {
      if (!isUp(await fetch(url))) throw new Error(`${url} is not up`);
    },
    { timeout, interval: 50 },
  );
  const exited = once(server, "exit").then(([code]) => {
    throw new Error(`the server exited with code ${code}`);
  });
  await Promise.race([answered, exited]);
}
