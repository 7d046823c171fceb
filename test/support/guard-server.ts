import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { createGuard } from "../../src/guard/create-guard.ts";
import type { Guard } from "../../src/guard/guard.ts";
import { RemoteGuard, type RemoteGuardOptions } from "../../src/guard/remote/index.ts";
import { createServer, type ScannerLists } from "../../src/server/index.ts";
import { startHttpServer } from "./http-server.ts";

/** Starts a guard server that listens until the test ends. */
export async function startGuardServer(
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
  // The server listens before its scanners are loaded.
  while ((await fetch(`${url}/readyz`)).status !== 200) await new Promise(setImmediate);
  return { url, log, close };
}

/** Makes a client of a guard server, which closes when the test ends. */
export function remoteGuard(options: RemoteGuardOptions): RemoteGuard {
  const guard = new RemoteGuard(options);
  onTestFinished(() => guard.close());
  return guard;
}

/** Makes two guards that must give the same results: one with local scanners, and a client of a server with the same scanners. */
export async function localAndRemoteGuards(
  scanners: () => Partial<ScannerLists>,
): Promise<Record<"here" | "remote", Guard>> {
  const here = await createGuard(scanners());
  onTestFinished(() => here.close());
  return { here, remote: remoteGuard({ url: (await startGuardServer(scanners())).url }) };
}

/** Starts a server with arbitrary replies, including replies that a guard server never sends. */
export async function startFakeGuardServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  const { url, close } = await startHttpServer((request, response) => {
    calls++;
    answer(response, request);
  });
  onTestFinished(close);
  return { url, calls: () => calls };
}
