import cluster, { type Worker } from "node:cluster";
import fastify, { type FastifyBaseLogger } from "fastify";
import { type Config, readConfig } from "../../../config/index.ts";
import { threadsOf } from "../../../config/workers.ts";
import { assertCanListen, EXIT_DELAY_MS } from "../../../http-server/listen-until-closed.ts";
import { loggerOptions } from "../../../http-server/log.ts";
import type { ConfigSource } from "../../../http-server/start-log.ts";
import { ownFile } from "../../../own-files.ts";
import { closedError, GuardError } from "../../../support/errors.ts";
import { gracePeriodMs } from "../../app.ts";
import { CoalescedTask } from "../coalesced-task.ts";
import type { ProcessMetrics } from "../process-state.ts";
import { watchFile } from "../watch-file.ts";
import { copyLines } from "./copy-lines.ts";
import { trackHandoffs } from "./handoffs.ts";
import { RpcChannel } from "./rpc-channel.ts";
import { type SharedKeys, SharedStateOwner } from "./shared-state.ts";
import { WorkerMetrics } from "./worker-metrics.ts";

export interface SupervisorOptions {
  /** The configuration of the file. */
  config: Config;
  source: ConfigSource;
  /** Overrides the address of the configuration. */
  at: { host?: string; port?: number };
  /** Number of worker processes. */
  workers: number;
  /** Whether a change of the file reloads the configuration. */
  watches: boolean;
}

/** The options of a worker. */
export interface WorkerStart extends Pick<SupervisorOptions, "source" | "at" | "workers"> {
  /** The content of the configuration file. */
  content: string;
  keys: SharedKeys;
  isLeader: boolean;
  isReplacement: boolean;
}

/** A worker that listens. */
export interface StartedWorker {
  url: string;
}

/** Timeout of a question to all workers, such as whether they are ready. */
const WORKER_TIMEOUT_MS = 1000;
/** A worker that ends within this time after its start has ended early. */
const EARLY_EXIT_MS = 10_000;
/** After this many early exits in a row, the server ends. */
const MAX_EARLY_EXITS = 5;
/** Delay before a restart. It doubles with each early exit. */
const RESTART_DELAY_MS = 100;

/** A worker process. */
interface WorkerHandle {
  /** Its number. A replacement has the number of the worker that it replaces. */
  index: number;
  worker: Worker;
  channel: RpcChannel;
  isServing: boolean;
  isLoaded: boolean;
  /** When it started to serve, on the clock of `performance.now()`. */
  servesSince: number;
}

/**
 * Starts several processes that serve one port. This process accepts connections and distributes them (round robin), reads no request, and
 * has the shared state. SIGTERM and SIGINT close all processes; this one ends last.
 *
 * @throws GuardValidationError for an invalid configuration; the error of a worker that cannot listen.
 */
export async function startWorkers(options: SupervisorOptions): Promise<void> {
  const content = await readConfig(options.source.file);
  await new Supervisor(options, content).start();
}

class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #log: FastifyBaseLogger;
  readonly #shared = new SharedStateOwner();
  readonly #metrics = new WorkerMetrics();
  readonly #workers = new Set<WorkerHandle>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #reloads = new CoalescedTask(() => this.#reload());
  /** The content of the configuration file in use. */
  #content: string;
  #earlyExits = 0;
  #isLoaded = false;
  #closed: Promise<void> | undefined;
  #onAllExited = () => {};
  #unwatch = () => {};

  constructor(options: SupervisorOptions, content: string) {
    this.#options = options;
    this.#content = content;
    this.#log = fastify({ logger: loggerOptions(options.config.app, process.stdout) }).log;
  }

  async start(): Promise<void> {
    const { workers, source, watches, at, config } = this.#options;
    await assertCanListen({ host: at.host ?? config.app.host, port: at.port ?? config.app.port });
    const threads = threadsOf(workers);
    cluster.setupPrimary({ exec: ownFile("dist/server/process/workers/worker.js"), args: [], silent: true });
    process.env.GUARD_ONNX_THREADS = String(threads);
    // glibc reads this when a process starts, so it affects the workers only. The container image sets the same value.
    process.env.MALLOC_ARENA_MAX ??= "2";
    const onSignal = () => void this.#close();
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, onSignal);
    try {
      // The first worker starts alone, so that errors of the port or the configuration are reported once.
      const { url } = await this.#startWorker(0, false);
      await Promise.all(Array.from({ length: workers - 1 }, (_, index) => this.#startWorker(index + 1, false)));
      this.#log.info({ url, workers, threads }, "serving with several processes");
    } catch (error) {
      const isAskedFor = this.#closed !== undefined;
      await this.#close();
      if (!isAskedFor) throw error;
      return;
    }
    const reload = () => {
      // A failure is logged by the worker.
      this.#reloads.run().catch(() => {});
    };
    if (process.platform !== "win32") process.on("SIGHUP", reload);
    if (watches) this.#unwatch = watchFile(source.file, reload);
  }

  /** Starts a worker, and waits until it listens. */
  async #startWorker(index: number, isReplacement: boolean): Promise<StartedWorker> {
    const { source, at, workers } = this.#options;
    const { handle, isReady } = this.#forkWorker(index);
    const start: WorkerStart = {
      ...{ source, at, workers, isReplacement },
      content: this.#content,
      keys: this.#shared.keys,
      isLeader: index === 0 && !isReplacement,
    };
    await isReady;
    const started = await handle.channel.call<StartedWorker>("start", start);
    handle.isServing = true;
    handle.servesSince = performance.now();
    return started;
  }

  /** Creates a worker process. `isReady` resolves when it accepts calls, or has ended. */
  #forkWorker(index: number): { handle: WorkerHandle; isReady: Promise<void> } {
    const worker = cluster.fork();
    const closeHandoffs = trackHandoffs(worker);
    const { methods, release } = this.#shared.forWorker();
    let onHello = () => {};
    const isReady = new Promise<void>((resolve) => {
      onHello = resolve;
    });
    const handle: WorkerHandle = {
      ...{ index, worker, isServing: false, isLoaded: false, servesSince: Number.POSITIVE_INFINITY },
      channel: new RpcChannel((message) => worker.isConnected() && worker.send(message, () => {}), {
        ...methods,
        hello: () => onHello(),
        loaded: () => this.#onLoaded(handle),
        reload: () => this.#reloads.run(),
        allMetrics: () => this.#allMetrics(),
        anyNotReady: () => this.#anyNotReady(),
        refreshAllExceptions: async () => void (await this.#callAll("refreshExceptions", null)),
        allShadows: (caller: string | null) => this.#resultsOfAll("shadow", caller),
        allTraffic: (options: object) => this.#resultsOfAll("traffic", options),
      }),
    };
    this.#workers.add(handle);
    worker.on("message", (message) => handle.channel.receive(message));
    // A message could not be sent: the event "exit" follows.
    worker.on("error", () => {});
    const { stdout, stderr } = worker.process;
    if (stdout) copyLines(stdout, process.stdout);
    if (stderr) copyLines(stderr, process.stderr);
    worker.once("exit", (code, signal) => {
      closeHandoffs();
      release();
      onHello();
      const how = signal ? `by ${signal}` : `with code ${code}`;
      handle.channel.end(new GuardError("GUARD_UNAVAILABLE", `A process of the server has ended ${how}.`));
      this.#onExit(handle, code, signal);
    });
    return { handle, isReady };
  }

  #onLoaded(handle: WorkerHandle): void {
    handle.isLoaded = true;
    if (this.#isLoaded || this.#workers.size < this.#options.workers) return;
    this.#isLoaded = [...this.#workers].every(({ isLoaded }) => isLoaded);
    if (this.#isLoaded) this.#log.info("all processes are ready");
  }

  #onExit(handle: WorkerHandle, code: number | null, signal: string | null): void {
    const { worker, index, servesSince, isServing } = handle;
    this.#workers.delete(handle);
    this.#metrics.end(worker.id);
    if (this.#closed) {
      if (code !== 0) process.exitCode = 2;
      if (this.#workers.size === 0) this.#onAllExited();
      return;
    }
    // During the first start, the pending call reports the error.
    if (!isServing && !this.#isLoaded && this.#earlyExits === 0) return;
    this.#earlyExits = performance.now() - servesSince < EARLY_EXIT_MS ? this.#earlyExits + 1 : 0;
    const fields = { worker: worker.process.pid, code, signal };
    // Code 2 means that a model cannot be loaded, which the worker has logged. A restart would fail too.
    const isHopeless = code === 2 && !this.#isLoaded;
    if (isHopeless || this.#earlyExits >= MAX_EARLY_EXITS) {
      this.#log.fatal({ ...fields, early: this.#earlyExits }, "processes keep ending or cannot start: the server ends");
      process.exitCode = 2;
      void this.#close();
      return;
    }
    const ms = RESTART_DELAY_MS * 2 ** this.#earlyExits;
    this.#log.error({ ...fields, ms }, "a process of the server has ended, and is restarted");
    this.#restartLater(index, ms);
  }

  #restartLater(index: number, ms: number): void {
    const timer = setTimeout(async () => {
      // Start with the configuration that is in use after the reload.
      await this.#reloads.running?.catch(() => {});
      this.#restarts.delete(timer);
      if (this.#closed) return;
      this.#startWorker(index, true).catch((error) =>
        this.#log.error({ reason: (error as Error).message }, "a process of the server could not start"),
      );
    }, ms);
    this.#restarts.add(timer);
  }

  get #serving(): WorkerHandle[] {
    return [...this.#workers].filter(({ isServing }) => isServing);
  }

  /** Calls a method of all workers. Failed calls give undefined. */
  async #callAll<T>(name: string, argument: unknown): Promise<[WorkerHandle, T | undefined][]> {
    return Promise.all(
      this.#serving.map(async (handle): Promise<[WorkerHandle, T | undefined]> => {
        const result = await handle.channel.call<T>(name, argument, WORKER_TIMEOUT_MS).catch(() => undefined);
        return [handle, result];
      }),
    );
  }

  async #allMetrics(): Promise<ProcessMetrics[]> {
    for (const [{ worker }, metrics] of await this.#callAll<ProcessMetrics>("metrics", null)) {
      if (metrics) this.#metrics.update(worker.id, metrics);
    }
    return this.#metrics.all();
  }

  async #anyNotReady(): Promise<unknown> {
    if (this.#closed) return [closedError().code, closedError().message];
    for (const [, reason] of await this.#callAll<[string, string] | null>("notReady", null)) {
      if (reason === undefined) return ["GUARD_UNAVAILABLE", "A process of the server does not respond."];
      if (reason) return reason;
    }
    const isStarting = !this.#isLoaded;
    return isStarting ? ["GUARD_STARTING", "The service is starting: its models are being loaded."] : null;
  }

  /** Calls a method of all workers, and returns the results without those of workers that have none. */
  async #resultsOfAll(name: "shadow" | "traffic", argument: unknown): Promise<unknown[]> {
    return (await this.#callAll<unknown>(name, argument)).flatMap(([, result]) => result ?? []);
  }

  /** Reloads all workers in two phases: they use the new configuration if all of them could load it. */
  async #reload(): Promise<string> {
    if (this.#closed) throw closedError();
    if (!this.#isLoaded) {
      throw new GuardError("GUARD_STARTING", "The service is starting: its models are being loaded.");
    }
    const content = await readConfig(this.#options.source.file).catch(() => null);
    const workers = this.#serving;
    try {
      const hash = await this.#prepare(workers, content);
      if (content !== null) this.#content = content;
      // A worker that ends now restarts with the new configuration.
      await Promise.allSettled(workers.map(({ channel }) => channel.call("commit")));
      this.#metrics.countReload("success");
      // Workers that were starting have the old configuration. They are restarted.
      for (const handle of this.#workers) if (!workers.includes(handle)) handle.worker.process.kill();
      return hash;
    } catch (error) {
      this.#metrics.countReload("failure");
      await Promise.allSettled(workers.map(({ channel }) => channel.call("abort")));
      throw error;
    }
  }

  /** Loads a configuration in all workers. The first one tries it alone, so that a mistake is logged once. */
  async #prepare([first, ...others]: readonly WorkerHandle[], content: string | null): Promise<string> {
    const prepare = ({ channel }: WorkerHandle) => channel.call<string>("prepare", content);
    if (!first) throw new GuardError("GUARD_UNAVAILABLE", "A process of the server has ended.");
    const hash = await prepare(first);
    for (const prepared of await Promise.allSettled(others.map(prepare))) {
      if (prepared.status === "rejected") throw prepared.reason;
    }
    return hash;
  }

  #close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#log.info("closing");
      this.#unwatch();
      for (const timer of this.#restarts) clearTimeout(timer);
      const allExited = new Promise<void>((resolve) => {
        this.#onAllExited = resolve;
      });
      for (const { channel } of this.#workers) channel.call("close").catch(() => {});
      // A worker ends in time, unless its event loop is blocked.
      const kill = setTimeout(
        () => {
          for (const { worker } of this.#workers) worker.process.kill("SIGKILL");
        },
        gracePeriodMs(this.#options.config) + 2 * EXIT_DELAY_MS,
      );
      if (this.#workers.size > 0) await allExited;
      clearTimeout(kill);
      // The last log lines may still be on their way.
      setTimeout(() => process.exit(), EXIT_DELAY_MS).unref();
    })();
    return this.#closed;
  }
}
