import cluster, { type Worker } from "node:cluster";
import fastify, { type FastifyBaseLogger } from "fastify";
import { type Config, readConfig } from "../../../config/index.ts";
import { threadsOf } from "../../../config/workers.ts";
import { LEFT } from "../../../http-server/listen-until-closed.ts";
import { loggerOptions } from "../../../http-server/log.ts";
import type { ConfigSource } from "../../../http-server/start-log.ts";
import { ownFile } from "../../../own-files.ts";
import { closedError, GuardError } from "../../../support/errors.ts";
import { SingleFlight } from "../../../support/single-flight.ts";
import { graceOf } from "../../app.ts";
import type { MetricsOfOne } from "../process-state.ts";
import { watchFile } from "../watch-file.ts";
import { copyLines } from "./copy-lines.ts";
import { Calls } from "./rpc-channel.ts";
import { Shared, type SharedKeys } from "./shared-state.ts";
import { TotalMetrics } from "./worker-metrics.ts";

/** A server of several processes. */
export interface WorkersOptions {
  /** The configuration that the file has, for what the first process does itself. */
  config: Config;
  source: ConfigSource;
  /** Where it listens, if not where the configuration says. */
  at: { host?: string; port?: number };
  /** How many processes serve. */
  workers: number;
  /** Whether it reloads when the file changes. */
  watches: boolean;
}

/** With what a worker starts. */
export interface Start extends Pick<WorkersOptions, "source" | "at" | "workers"> {
  /** What the file of the configuration says. */
  content: string;
  keys: SharedKeys;
  speaks: boolean;
  isLate: boolean;
}

/** A worker that listens. */
export interface Started {
  url: string;
}

/** Milliseconds that a worker has for a question of all, such as whether it is ready. */
const PATIENCE = 1000;
/** A worker that ends before it serves, or has served for fewer milliseconds, has ended early. */
const EARLY = 10_000;
/** So many workers that end early, one behind the other, end the server. */
const MOST_EARLY = 5;
/** Milliseconds until a worker is started again, which double with each that ended early. */
const DELAY = 100;

/** One of the processes that serve. */
interface Member {
  /** Its place among the workers, which the one that takes its place has too. */
  index: number;
  worker: Worker;
  calls: Calls;
  isServing: boolean;
  isLoaded: boolean;
  /** When it began to serve, in milliseconds. */
  servesSince: number;
}

/**
 * Starts several processes that serve one port, and keeps what they have in common. This process takes connections and hands them out in
 * turn; it reads no request. SIGTERM and SIGINT close all of them, and it ends last.
 *
 * @throws GuardValidationError for a bad configuration; the error of a worker that cannot listen.
 */
export async function startWorkers(options: WorkersOptions): Promise<void> {
  const content = await readConfig(options.source.file);
  await new Workers(options, content).start();
}

class Workers {
  readonly #options: WorkersOptions;
  readonly #log: FastifyBaseLogger;
  readonly #shared = new Shared();
  readonly #metrics = new TotalMetrics();
  readonly #members = new Set<Member>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #reloads = new SingleFlight(() => this.#reload());
  /** What the file said that is served. */
  #content: string;
  #early = 0;
  #isLoaded = false;
  #closed: Promise<void> | undefined;
  #onEnded = () => {};

  constructor(options: WorkersOptions, content: string) {
    this.#options = options;
    this.#content = content;
    this.#log = fastify({ logger: loggerOptions(options.config.app, process.stdout) }).log;
  }

  async start(): Promise<void> {
    const { workers, source, watches } = this.#options;
    const threads = threadsOf(workers);
    cluster.setupPrimary({ exec: ownFile("dist/server/process/workers/worker.js"), args: [], silent: true });
    process.env.GUARD_ONNX_THREADS = String(threads);
    // As the image has it: a process that runs already keeps the heaps that its threads have.
    process.env.MALLOC_ARENA_MAX ??= "2";
    const onSignal = () => void this.#close();
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, onSignal);
    try {
      // What is wrong with the port or the configuration is said once.
      const { url } = await this.#add(0, false);
      await Promise.all(Array.from({ length: workers - 1 }, (_, index) => this.#add(index + 1, false)));
      this.#log.info({ url, workers, threads }, "serving with several processes");
    } catch (error) {
      const isAskedFor = this.#closed !== undefined;
      await this.#close();
      if (!isAskedFor) throw error;
      return;
    }
    const reload = () => {
      // Why it failed is in the log.
      this.#reloads.run().catch(() => {});
    };
    if (process.platform !== "win32") process.on("SIGHUP", reload);
    if (watches) this.#unwatch = watchFile(source.file, reload);
  }

  #unwatch = () => {};

  /** Starts a worker. It listens when this resolves. */
  async #add(index: number, isLate: boolean): Promise<Started> {
    const { source, at, workers } = this.#options;
    const worker = cluster.fork();
    const { functions, leave } = this.#shared.forWorker();
    let onHello = () => {};
    const hello = new Promise<void>((resolve) => {
      onHello = resolve;
    });
    const member: Member = {
      ...{ index, worker, isServing: false, isLoaded: false, servesSince: Number.POSITIVE_INFINITY },
      calls: new Calls((message) => worker.isConnected() && worker.send(message, () => {}), {
        ...functions,
        hello: () => onHello(),
        loaded: () => this.#onLoaded(member),
        reload: () => this.#reloads.run(),
        allMetrics: () => this.#allMetrics(),
        anyNotReady: () => this.#anyNotReady(),
        allShadows: (caller: string | null) => this.#allShadows(caller),
      }),
    };
    this.#members.add(member);
    worker.on("message", (message) => member.calls.take(message));
    // A message that could not be sent: its exit tells all there is to tell.
    worker.on("error", () => {});
    const { stdout, stderr } = worker.process;
    if (stdout) copyLines(stdout, process.stdout);
    if (stderr) copyLines(stderr, process.stderr);
    worker.once("exit", (code, signal) => {
      leave();
      onHello();
      const how = signal ? `by ${signal}` : `with code ${code}`;
      member.calls.end(new GuardError("GUARD_UNAVAILABLE", `A process of the server has ended ${how}.`));
      this.#onExit(member, code, signal);
    });
    const start: Start = {
      ...{ source, at, workers, isLate },
      content: this.#content,
      keys: this.#shared.keys,
      speaks: index === 0 && !isLate,
    };
    await hello;
    const started = await member.calls.call<Started>("start", start);
    member.isServing = true;
    member.servesSince = performance.now();
    return started;
  }

  #onLoaded(member: Member): void {
    member.isLoaded = true;
    if (this.#isLoaded || this.#members.size < this.#options.workers) return;
    this.#isLoaded = [...this.#members].every(({ isLoaded }) => isLoaded);
    if (this.#isLoaded) this.#log.info("all processes are ready");
  }

  #onExit(member: Member, code: number | null, signal: string | null): void {
    const { worker, index, servesSince, isServing } = member;
    this.#members.delete(member);
    this.#metrics.keep(worker.id);
    if (this.#closed) {
      if (code !== 0) process.exitCode = 2;
      if (this.#members.size === 0) this.#onEnded();
      return;
    }
    // Who waits for the first start is told by its call.
    if (!isServing && !this.#isLoaded && this.#early === 0) return;
    this.#early = performance.now() - servesSince < EARLY ? this.#early + 1 : 0;
    const about = { worker: worker.process.pid, code, signal };
    // A model cannot be loaded; the worker has logged which one. No other would fare better.
    const isHopeless = code === 2 && !this.#isLoaded;
    if (isHopeless || this.#early >= MOST_EARLY) {
      this.#log.fatal(
        { ...about, early: this.#early },
        "processes end again and again, or cannot start: the server ends",
      );
      process.exitCode = 2;
      void this.#close();
      return;
    }
    const ms = DELAY * 2 ** this.#early;
    this.#log.error({ ...about, ms }, "a process of the server has ended, and is started again");
    const timer = setTimeout(async () => {
      // It gets what is served then.
      await this.#reloads.running?.catch(() => {});
      this.#restarts.delete(timer);
      if (this.#closed) return;
      this.#add(index, true).catch((error) =>
        this.#log.error({ reason: (error as Error).message }, "it could not start"),
      );
    }, ms);
    this.#restarts.add(timer);
  }

  get #serving(): Member[] {
    return [...this.#members].filter(({ isServing }) => isServing);
  }

  /** Asks all workers something. What they cannot say is left out. */
  async #ask<T>(name: string, argument: unknown): Promise<[Member, T | undefined][]> {
    return Promise.all(
      this.#serving.map(async (member): Promise<[Member, T | undefined]> => {
        const answer = await member.calls.call<T>(name, argument, PATIENCE).catch(() => undefined);
        return [member, answer];
      }),
    );
  }

  async #allMetrics(): Promise<MetricsOfOne[]> {
    for (const [{ worker }, metrics] of await this.#ask<MetricsOfOne>("metrics", null)) {
      if (metrics) this.#metrics.take(worker.id, metrics);
    }
    return this.#metrics.all();
  }

  async #anyNotReady(): Promise<unknown> {
    if (this.#closed) return [closedError().code, closedError().message];
    for (const [, reason] of await this.#ask<[string, string] | null>("notReady", null)) {
      if (reason === undefined) return ["GUARD_UNAVAILABLE", "A process of the server does not answer."];
      if (reason) return reason;
    }
    const isStarting = !this.#isLoaded;
    return isStarting ? ["GUARD_STARTING", "The service is starting: its models are being loaded."] : null;
  }

  async #allShadows(caller: string | null): Promise<unknown[]> {
    return (await this.#ask<unknown>("shadow", caller)).flatMap(([, summary]) => summary ?? []);
  }

  /**
   * Has all workers load what the file says now, and serve it when all of them could. First one of them tries it alone, so that a mistake
   * is logged once.
   */
  async #reload(): Promise<string> {
    if (this.#closed) throw closedError();
    if (!this.#isLoaded) {
      throw new GuardError("GUARD_STARTING", "The service is starting: its models are being loaded.");
    }
    // Those that start have what is served now, and are asked too.
    const content = await readConfig(this.#options.source.file).catch(() => null);
    const members = this.#serving;
    const prepare = ({ calls }: Member) => calls.call<string>("prepare", content);
    const [first, ...others] = members;
    try {
      if (!first) throw new GuardError("GUARD_UNAVAILABLE", "A process of the server has ended.");
      const hash = await prepare(first);
      const hashes = await Promise.allSettled(others.map(prepare));
      for (const other of hashes) if (other.status === "rejected") throw other.reason;
      if (content !== null) this.#content = content;
      // One that ends now is started again with it.
      await Promise.allSettled(members.map(({ calls }) => calls.call("commit")));
      this.#metrics.countReload("success");
      await this.#replaceOld(members);
      return hash;
    } catch (error) {
      this.#metrics.countReload("failure");
      await Promise.allSettled(members.map(({ calls }) => calls.call("abort")));
      throw error;
    }
  }

  /** Ends workers that began to start before a reload, and so have the configuration before: they are started again. */
  async #replaceOld(members: readonly Member[]): Promise<void> {
    for (const member of this.#members) if (!members.includes(member)) member.worker.process.kill();
  }

  #close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#log.info("closing");
      this.#unwatch();
      for (const timer of this.#restarts) clearTimeout(timer);
      const ended = new Promise<void>((resolve) => {
        this.#onEnded = resolve;
      });
      for (const { calls } of this.#members) calls.call("close").catch(() => {});
      // Workers end themselves in time, unless something holds their event loop.
      const kill = setTimeout(
        () => {
          for (const { worker } of this.#members) worker.process.kill("SIGKILL");
        },
        graceOf(this.#options.config) + 2 * LEFT,
      );
      if (this.#members.size > 0) await ended;
      clearTimeout(kill);
      // The last lines of the log may still be on their way.
      setTimeout(() => process.exit(), LEFT).unref();
    })();
    return this.#closed;
  }
}
