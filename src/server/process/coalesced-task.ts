/**
 * Runs a task, never twice at the same time. Calls during a run share one further run after it, because what the task reads may have
 * changed since the run started.
 */
export class CoalescedTask<T> {
  readonly #task: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(task: () => Promise<T>) {
    this.#task = task;
  }

  /** The current run. */
  get running(): Promise<T> | undefined {
    return this.#running;
  }

  /** Runs the task, now or after the current run. */
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
