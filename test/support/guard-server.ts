import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { createGuard } from "../../src/guard/create-guard.ts";
import type { Guard } from "../../src/guard/guard.ts";
import { RemoteGuard, type RemoteGuardOptions } from "../../src/guard/remote/index.ts";
import { createServer, type ScannerLists } from "../../src/server/index.ts";
import { listening } from "./listening.ts";

/** A guard server that listens until the test ends. */
export async function listeningServer(
  scanners: Partial<ScannerLists>,
  config: ConfigInput = {},
): Promise<{ url: string; log: string[]; close(): Promise<void> }> {
  const log: string[] = [];
  const app = await createServer({
    config: { ...config, app: { logLevel: "trace", ...config.app } },
    scanners: { input: [], output: [], ...scanners },
    logger: { write: (line) => log.push(line) },
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const close = () => app.close();
  onTestFinished(close);
  // Loading goes on in the background.
  while ((await fetch(`${url}/readyz`)).status !== 200) await new Promise(setImmediate);
  return { url, log, close };
}

/** A guard of a server by its address. */
export function remoteGuard(options: RemoteGuardOptions): RemoteGuard {
  const guard = new RemoteGuard(options);
  onTestFinished(() => guard.close());
  return guard;
}

/** Two guards that should say the same: of scanners here, and of a server with such scanners. */
export async function bothGuards(scanners: () => Partial<ScannerLists>): Promise<Record<"here" | "remote", Guard>> {
  const here = await createGuard(scanners());
  onTestFinished(() => here.close());
  return { here, remote: remoteGuard({ url: (await listeningServer(scanners())).url }) };
}

/** A server that answers as told: what a guard server would never do. */
export async function fakeServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  const { url, close } = await listening((request, response) => {
    calls++;
    answer(response, request);
  });
  onTestFinished(close);
  return { url, calls: () => calls };
}
