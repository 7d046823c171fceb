/** A task that waits for an idle moment. */
export interface IdleTask {
  /** The memory that it uses while it waits and runs, in characters. */
  chars: number;
  /** Runs the task and handles its errors. It must end soon after the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Called if the task is dropped, before or during `run`. */
  onDropped(): void;
}

export interface IdleQueueOptions {
  /** Returns whether a task may start. */
  isIdle(): boolean;
  /** Returns whether running tasks must be dropped. */
  isBusy(): boolean;
  maxRunning: number;
  /** Limits of waiting and running tasks. */
  maxTasks: number;
  maxChars: number;
  /** Calls a function at an interval, and returns a function that stops it. */
  setInterval?(poll: () => void, milliseconds: number): () => void;
}

/** A slot in an {@link IdleQueue}. */
export interface IdleSlot {
  /** Queues the task of the slot. */
  enqueue(): void;
}

const POLL_INTERVAL_MS = 50;

/** A bounded queue of tasks that run while the server is idle. When it becomes busy, running tasks are dropped. */
export class IdleQueue {
  readonly #options: Required<IdleQueueOptions>;
  readonly #ready: IdleTask[] = [];
  readonly #running = new Map<IdleTask, AbortController>();
  #size = 0;
  #chars = 0;
  #isClosed = false;
  #stopPolling: (() => void) | undefined;

  constructor({ setInterval = startInterval, ...options }: IdleQueueOptions) {
    this.#options = { ...options, setInterval };
  }

  /** Number of waiting and running tasks. */
  get size(): number {
    return this.#size;
  }

  /**
   * Reserves a slot for a task.
   *
   * @returns undefined if the queue is full; `onDropped` is not called then.
   */
  reserve(task: IdleTask): IdleSlot | undefined {
    const { maxTasks, maxChars } = this.#options;
    if (this.#isClosed || this.#size >= maxTasks || this.#chars + task.chars > maxChars) return undefined;
    this.#size += 1;
    this.#chars += task.chars;
    return {
      enqueue: () => {
        if (this.#isClosed) return this.#drop(task);
        this.#ready.push(task);
        // Do not start at once: a client that has just got its response sends its next request now.
        this.#stopPolling ??= this.#options.setInterval(() => this.poll(), POLL_INTERVAL_MS);
      },
    };
  }

  /** Starts tasks if the server is idle, and drops running ones if it is busy. */
  poll(): void {
    const { isIdle, isBusy, maxRunning } = this.#options;
    if (this.#isClosed) return;
    if (isBusy()) for (const [task, controller] of this.#running) this.#drop(task, controller);
    while (this.#running.size < maxRunning && isIdle()) {
      const task = this.#ready.shift();
      if (!task) break;
      this.#run(task);
    }
    if (this.#ready.length + this.#running.size > 0) return;
    this.#stopPolling?.();
    this.#stopPolling = undefined;
  }

  /** Drops all tasks, and accepts no further ones. */
  close(): void {
    this.#isClosed = true;
    this.#stopPolling?.();
    for (const [task, controller] of this.#running) this.#drop(task, controller);
    for (const task of this.#ready.splice(0)) this.#drop(task);
  }

  #run(task: IdleTask): void {
    const controller = new AbortController();
    this.#running.set(task, controller);
    const done = () => {
      // A dropped task has left the queue already.
      if (!this.#running.delete(task)) return;
      this.#release(task);
      this.poll();
    };
    task.run(controller.signal).then(done, done);
  }

  #drop(task: IdleTask, controller?: AbortController): void {
    this.#running.delete(task);
    this.#release(task);
    task.onDropped();
    controller?.abort();
  }

  #release(task: IdleTask): void {
    this.#size -= 1;
    this.#chars -= task.chars;
  }
}

function startInterval(poll: () => void, milliseconds: number): () => void {
  const timer = setInterval(poll, milliseconds).unref();
  return () => clearInterval(timer);
}
