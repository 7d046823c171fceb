// The program of a worker: `startWorkers` starts it in processes of its own.

import cluster from "node:cluster";
import { loadConfig } from "../../../config/index.ts";
import { closedError, GuardError } from "../../../support/errors.ts";
import { limitProcessMemory } from "../../../support/process-memory.ts";
import type { MetricsOfOne } from "../process-state.ts";
import { type ServerInside, startInside } from "../start-server.ts";
import { keptElsewhere } from "./remote-state.ts";
import { Calls } from "./rpc-channel.ts";
import type { Start, Started } from "./supervisor.ts";

/** A configuration that was asked for, from when it is read to when all processes serve it or none does. */
interface Reloading {
  content: string | null;
  /** Tells that it is loaded. */
  onLoaded(hash: string): void;
  /** Resolves when it may be served. */
  agreed: Promise<void>;
  agree(): void;
  refuse(error: Error): void;
  done: Promise<string>;
}

limitProcessMemory();

let server: ServerInside | undefined;
let reloading: Reloading | undefined;

const calls = new Calls(
  // What cannot be sent any more would be for a process that is gone.
  (message) => process.connected && process.send?.(message, undefined, undefined, () => {}),
  { start, prepare, commit, abort, close, metrics, notReady, shadow },
);
process.on("message", (message) => calls.take(message));
// Messages that came while this program was loaded would be lost.
calls.call("hello").catch(() => {});
// The first process gets this signal too, and has all reload.
if (process.platform !== "win32") process.on("SIGHUP", () => {});
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

async function start(given: Start): Promise<Started> {
  const { source, at, keys, workers, speaks, isLate } = given;
  const load = (content: string | null) => loadConfig(source.file, process.env, content ?? undefined);
  try {
    const config = await load(given.content);
    server = await startInside(
      { config, source, ...at, reread: () => load(reloading?.content ?? null) },
      {
        kept: keptElsewhere(calls, keys),
        together: {
          ...{ workers, speaks },
          metrics: () => calls.call<MetricsOfOne[]>("allMetrics"),
          notReady: async () => {
            const reason = await calls.call<[GuardError["code"], string] | null>("anyNotReady");
            return reason ? new GuardError(...reason) : undefined;
          },
          shadows: (caller) => calls.call("allShadows", caller),
        },
        isLate,
        reload: () => calls.call("reload"),
        async agree(hash) {
          reloading?.onLoaded(hash);
          await reloading?.agreed;
        },
        // The channel to the first process keeps this one alive.
        onClosed: () => cluster.worker?.disconnect(),
      },
    );
  } catch (error) {
    process.exitCode = 2;
    setImmediate(() => cluster.worker?.disconnect());
    throw error;
  }
  server.generations.current.loaded.then(
    () => calls.call("loaded").catch(() => {}),
    () => {},
  );
  return { url: server.url };
}

/** Loads a configuration. It is not served yet. */
function prepare(content: string | null): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!server) return reject(closedError());
    let agree = () => {};
    let refuse: (error: Error) => void = () => {};
    const agreed = new Promise<void>((onAgreed, onRefused) => {
      agree = onAgreed;
      refuse = onRefused;
    });
    agreed.catch(() => {});
    reloading = { content, onLoaded: resolve, agreed, agree, refuse, done: agreed as unknown as Promise<string> };
    reloading.done = server.reload();
    reloading.done.catch(reject);
  });
}

function commit(): Promise<string> | undefined {
  reloading?.agree();
  return reloading?.done;
}

async function abort(): Promise<void> {
  reloading?.refuse(new GuardError("GUARD_UNAVAILABLE", "Another process could not load the configuration."));
  await reloading?.done.catch(() => {});
}

function close(): void {
  // What listens for this signal closes the server, and ends the process in time.
  if (!process.emit("SIGTERM", "SIGTERM")) process.exit();
}

function metrics(): Promise<unknown> | undefined {
  return server?.metrics.registry.getMetricsAsJSON();
}

function notReady(): [GuardError["code"], string] | null {
  const reason = server ? server.generations.current.profiles.notReady : closedError();
  return reason ? [reason.code, reason.message] : null;
}

function shadow(caller: string | null): unknown {
  return server?.generations.current.shadow?.summary(caller ?? undefined) ?? null;
}
