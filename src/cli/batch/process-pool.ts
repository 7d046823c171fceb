import { type ChildProcess, fork } from "node:child_process";
import { threadsOf } from "../../config/workers.ts";
import { ownFile } from "../../own-files.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { CONCURRENCY, type LineReport, type LineScanner, type LineScanSettings } from "./line-scanner.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

/** So many processes in a row may end before they have loaded their scanners. */
const MAX_FAILED_STARTS = 3;
/** A line that ends so many processes while it is the only one that they scan gets an error. */
const MAX_ENDS = 2;

/** The processes cannot go on: no line can be scanned any more. */
export class ProcessPoolError extends Error {}

interface Task {
  value: unknown;
  /** The number of processes that ended while they scanned only this line. */
  ends: number;
  resolve(report: LineReport): void;
  reject(error: Error): void;
}

interface Worker {
  process: ChildProcess;
  isReady: boolean;
  /** The lines that it scans, by id. */
  tasks: Map<number, Task>;
  /** Whether it scans a line that may have ended another process. It gets no other line meanwhile, which could be lost with it. */
  isIsolated: boolean;
}

export interface ProcessPoolOptions {
  processes: number;
  /** Called when a process has ended, with the way it ended and the number of its lines that are scanned again. */
  onReplaced(how: string, lines: number): void;
}

/**
 * Scans lines in several processes, which share the threads of this machine. A process that ends is replaced, and its lines are scanned
 * again: one by one, so that a line that crashes a process takes no other line with it.
 */
export class ProcessPool implements LineScanner {
  readonly concurrency: number;
  readonly #settings: LineScanSettings;
  readonly #options: ProcessPoolOptions;
  readonly #workers = new Set<Worker>();
  readonly #waiting: Task[] = [];
  /** Lines whose process has ended. */
  readonly #suspects: Task[] = [];
  readonly #environment: NodeJS.ProcessEnv;
  #nextId = 0;
  #failedStarts = 0;
  #failure: Error | undefined;
  #isClosed = false;
  #onStarted: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(settings: LineScanSettings, options: ProcessPoolOptions) {
    this.#settings = settings;
    this.#options = options;
    this.concurrency = CONCURRENCY * options.processes;
    this.#environment = {
      ...process.env,
      GUARD_ONNX_THREADS: String(threadsOf(options.processes)),
      MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? "2",
    };
  }

  /**
   * Starts the processes. The first one starts alone, so that errors of the scanners are reported once.
   *
   * @throws GuardValidationError for invalid scanners.
   */
  static async start(settings: LineScanSettings, options: ProcessPoolOptions): Promise<ProcessPool> {
    const pool = new ProcessPool(settings, options);
    await new Promise<void>((resolve, reject) => {
      pool.#onStarted = { resolve, reject };
      pool.#startWorker();
    });
    for (let index = 1; index < options.processes; index++) pool.#startWorker();
    return pool;
  }

  scan(value: unknown): Promise<LineReport> {
    return new Promise((resolve, reject) => {
      if (this.#failure) reject(this.#failure);
      else this.#waiting.push({ value, ends: 0, resolve, reject });
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#workers].map(
        ({ process: child }) =>
          new Promise<void>((resolve) => {
            child.once("exit", () => resolve());
            if (child.connected) child.disconnect();
            else child.kill();
          }),
      ),
    );
  }

  #startWorker(): void {
    const child = fork(ownFile("dist/cli/batch/worker.js"), [], {
      env: this.#environment,
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const worker: Worker = { process: child, isReady: false, tasks: new Map(), isIsolated: false };
    this.#workers.add(worker);
    child.on("message", (message) => this.#receive(worker, message as FromWorker));
    // A message could not be sent: the event "exit" follows.
    child.on("error", () => {});
    child.once("exit", (code, signal) => this.#onExit(worker, signal ? `by ${signal}` : `with code ${code}`));
  }

  #receive(worker: Worker, message: FromWorker): void {
    switch (message.kind) {
      case "loaded":
        this.#send(worker, { kind: "start", settings: this.#settings });
        break;
      case "refused":
        this.#fail(errorOf(message));
        break;
      case "ready":
        worker.isReady = true;
        this.#failedStarts = 0;
        this.#onStarted?.resolve();
        this.#onStarted = undefined;
        this.#dispatch();
        break;
      default: {
        const task = worker.tasks.get(message.id);
        worker.tasks.delete(message.id);
        worker.isIsolated = false;
        if (message.kind === "report") task?.resolve(message.report);
        else task?.reject(new Error(message.message));
        this.#dispatch();
      }
    }
  }

  /** Sends waiting lines to processes with the fewest lines. */
  #dispatch(): void {
    for (;;) {
      const ready = [...this.#workers].filter(({ isReady, isIsolated }) => isReady && !isIsolated);
      const [worker] = ready.sort((one, other) => one.tasks.size - other.tasks.size);
      if (!worker || worker.tasks.size >= CONCURRENCY) return;
      const isIdle = worker.tasks.size === 0;
      const suspect = isIdle ? this.#suspects.shift() : undefined;
      const task = suspect ?? this.#waiting.shift();
      if (!task) return;
      worker.isIsolated = suspect !== undefined;
      const id = this.#nextId++;
      worker.tasks.set(id, task);
      this.#send(worker, { kind: "scan", id, value: task.value });
    }
  }

  #send(worker: Worker, message: ToWorker): void {
    if (worker.process.connected) worker.process.send(message, () => {});
  }

  #onExit(worker: Worker, how: string): void {
    this.#workers.delete(worker);
    if (this.#isClosed || this.#failure) return;
    if (!worker.isReady) this.#failedStarts += 1;
    if (this.#failedStarts >= MAX_FAILED_STARTS) {
      this.#fail(new ProcessPoolError(`processes end before they are ready, the last one ${how}`));
      return;
    }
    const tasks = [...worker.tasks.values()];
    for (const task of tasks) {
      if (worker.isIsolated || tasks.length === 1) task.ends += 1;
      if (task.ends < MAX_ENDS) this.#suspects.push(task);
      else task.reject(new Error(`the process that scans this line ends ${how}`));
    }
    this.#options.onReplaced(how, tasks.filter(({ ends }) => ends < MAX_ENDS).length);
    this.#startWorker();
  }

  #fail(error: Error): void {
    this.#failure = error instanceof ProcessPoolError ? error : new ProcessPoolError(error.message, { cause: error });
    this.#onStarted?.reject(error);
    this.#onStarted = undefined;
    const tasks = [
      ...this.#suspects,
      ...this.#waiting,
      ...[...this.#workers].flatMap(({ tasks }) => [...tasks.values()]),
    ];
    for (const task of tasks) task.reject(this.#failure);
    for (const worker of this.#workers) worker.process.kill();
  }
}

function errorOf({ message, code, issues }: FromWorker & { kind: "refused" }): Error {
  if (issues) return new GuardValidationError(issues);
  return code ? new GuardError(code, message) : new Error(message);
}
