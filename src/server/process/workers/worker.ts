// The program of a worker process, which the supervisor starts.

import cluster from "node:cluster";
import { loadConfig } from "../../../config/index.ts";
import { limitProcessMemory } from "../../../http-server/process-memory.ts";
import { closedError, GuardError } from "../../../support/errors.ts";
import type { ProcessMetrics, WorkerContext } from "../process-state.ts";
import { startWorkerServer, type WorkerServer } from "../start-server.ts";
import { remoteSharedState } from "./remote-state.ts";
import { RpcChannel } from "./rpc-channel.ts";
import type { StartedWorker, WorkerStart } from "./supervisor.ts";

/** A reload in two phases: the worker prepares the new configuration, and serves it when all workers have prepared it. */
interface PreparedReload {
  content: string | null;
  onPrepared(hash: string): void;
  /** Resolves when all workers are prepared, and rejects if one has failed. */
  approved: Promise<void>;
  approve(): void;
  refuse(error: Error): void;
  done: Promise<string>;
}

limitProcessMemory();

let server: WorkerServer | undefined;
let reloading: PreparedReload | undefined;

const supervisor = new RpcChannel(
  // A message that cannot be sent is for a supervisor that has ended.
  (message) => process.connected && process.send?.(message, undefined, undefined, () => {}),
  { start, prepare, commit, abort, close, metrics, notReady, shadow, traffic, refreshExceptions },
);
process.on("message", (message) => supervisor.receive(message));
// The supervisor waits for this call: messages that arrive before the program is loaded would be lost.
supervisor.call("hello").catch(() => {});
// A terminal sends SIGHUP to all processes. Only the supervisor handles it.
if (process.platform !== "win32") process.on("SIGHUP", () => {});
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

async function start(options: WorkerStart): Promise<StartedWorker> {
  const { source, at } = options;
  const load = (content: string | null) => loadConfig(source.file, process.env, content ?? undefined);
  try {
    const config = await load(options.content);
    const reread = () => load(reloading?.content ?? null);
    server = await startWorkerServer({ config, source, ...at, reread }, workerContext(options));
  } catch (error) {
    process.exitCode = 2;
    setImmediate(() => cluster.worker?.disconnect());
    throw error;
  }
  server.generations.current.loaded.then(
    () => supervisor.call("loaded").catch(() => {}),
    () => {},
  );
  return { url: server.url };
}

function workerContext({ keys, workers, isLeader, isReplacement }: WorkerStart): WorkerContext {
  return {
    shared: remoteSharedState(supervisor, keys),
    pool: {
      ...{ size: workers, isLeader },
      metrics: () => supervisor.call<ProcessMetrics[]>("allMetrics"),
      notReady: async () => {
        const reason = await supervisor.call<[GuardError["code"], string] | null>("anyNotReady");
        return reason ? new GuardError(...reason) : undefined;
      },
      shadows: (caller) => supervisor.call("allShadows", caller),
      refreshExceptions: () => supervisor.call("refreshAllExceptions"),
      traffic: (minutes, credentialId) => supervisor.call("allTraffic", { minutes, credentialId }),
    },
    isReplacement,
    reload: () => supervisor.call("reload"),
    async approve(hash) {
      reloading?.onPrepared(hash);
      await reloading?.approved;
    },
    // The channel to the supervisor would keep this process alive.
    onClosed: () => cluster.worker?.disconnect(),
  };
}

/** Loads a configuration, and resolves with its hash. It is not in use yet. */
function prepare(content: string | null): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!server) return reject(closedError());
    let approve = () => {};
    let refuse: (error: Error) => void = () => {};
    const approved = new Promise<void>((onApproved, onRefused) => {
      approve = onApproved;
      refuse = onRefused;
    });
    approved.catch(() => {});
    const pending = approved as unknown as Promise<string>;
    reloading = { content, onPrepared: resolve, approved, approve, refuse, done: pending };
    reloading.done = server.reload();
    reloading.done.catch(reject);
  });
}

function commit(): Promise<string> | undefined {
  reloading?.approve();
  return reloading?.done;
}

async function abort(): Promise<void> {
  reloading?.refuse(new GuardError("GUARD_UNAVAILABLE", "Another process could not load the configuration."));
  await reloading?.done.catch(() => {});
}

function close(): void {
  // The server has a listener for this signal, which closes it and ends the process in time.
  if (!process.emit("SIGTERM", "SIGTERM")) process.exit();
}

function metrics(): Promise<unknown> | undefined {
  return server?.metrics.registry.getMetricsAsJSON();
}

function notReady(): [GuardError["code"], string] | null {
  const reason = server ? server.generations.current.profiles.notReady : closedError();
  return reason ? [reason.code, reason.message] : null;
}

async function refreshExceptions(): Promise<void> {
  await server?.generations.current.exceptions.refresh();
}

function shadow(caller: string | null): unknown {
  return server?.generations.current.shadow?.summary(caller ?? undefined) ?? null;
}

function traffic({ minutes, credentialId }: { minutes: number; credentialId?: string }): unknown {
  return server?.traffic.counts(minutes, credentialId) ?? null;
}
