/** A computation in progress. */
interface Flight<T> {
  result: Promise<T>;
  /** Number of waiting callers. */
  waiting: number;
  controller: AbortController;
}

/** Lets callers with the same key share one computation. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Flight<T>>();

  /**
   * Joins the computation of a key, or starts it. When no caller waits any more, its signal is aborted, and the next caller starts another
   * one.
   *
   * @param signal aborted when this caller no longer waits.
   * @returns the result, and whether the computation was in progress already.
   */
  join(
    key: string,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<T>,
  ): { result: Promise<T>; isJoined: boolean } {
    const running = this.#running.get(key);
    const flight = running ?? this.#start(key, start);
    flight.waiting++;
    const leave = () => {
      flight.waiting--;
      if (flight.waiting > 0) return;
      this.#end(key, flight);
      flight.controller.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else {
      signal.addEventListener("abort", leave, { once: true });
      const done = () => signal.removeEventListener("abort", leave);
      flight.result.then(done, done);
    }
    return { result: flight.result, isJoined: running !== undefined };
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { result: start(controller.signal), waiting: 0, controller };
    this.#running.set(key, flight);
    const done = () => this.#end(key, flight);
    flight.result.then(done, done);
    return flight;
  }

  #end(key: string, flight: Flight<T>): void {
    if (this.#running.get(key) === flight) this.#running.delete(key);
  }
}
