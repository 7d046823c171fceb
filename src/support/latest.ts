/**
 * Does a piece of work, never twice at the same time. What is asked for while it is done is done behind it, once for all who ask: what it
 * works on may have changed since it began.
 */
export class Latest<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** The work that is being done, if there is any. */
  get running(): Promise<T> | undefined {
    return this.#running;
  }

  /** Does the work, or has it done behind what is being done. */
  run(): Promise<T> {
    if (!this.#running) {
      const running = this.#work().finally(() => {
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
