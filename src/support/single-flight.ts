/**
 * Runs a task, never twice at the same time. Calls during a run share one more run after it, because the input of the task may have
 * changed since the current run began.
 */
export class SingleFlight<T> {
  readonly #task: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(task: () => Promise<T>) {
    this.#task = task;
  }

  /** The current run; undefined when the task does not run. */
  get running(): Promise<T> | undefined {
    return this.#running;
  }

  /** Runs the task now, or after the current run. */
  run(): Promise<T> {
    if (!this.#running) {
      const running = this.#task().finally(() => {
        this.#running = undefined;
      });
      this.#running = running;
      return running;
    }
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.run();
      });
    return this.#next;
  }
}
