/** One computation that is under way. */
interface Flight<T> {
  result: Promise<T>;
  /** How many callers wait for it. */
  waiting: number;
  stop: AbortController;
}

/** Computations under way, by key: callers with the same key share one. */
export class Flights<T> {
  readonly #running = new Map<string, Flight<T>>();

  /**
   * Joins the computation of a key, or starts it. When nobody waits for it any more, its signal is aborted, and whoever comes then
   * starts another one.
   *
   * @param signal aborted when this caller does not wait any more.
   * @returns the result, and whether the computation was under way already.
   */
  join(
    key: string,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<T>,
  ): { result: Promise<T>; isJoined: boolean } {
    const known = this.#running.get(key);
    const flight = known ?? this.#start(key, start);
    flight.waiting++;
    const leave = () => {
      flight.waiting--;
      if (flight.waiting > 0) return;
      this.#end(key, flight);
      flight.stop.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else {
      signal.addEventListener("abort", leave, { once: true });
      const done = () => signal.removeEventListener("abort", leave);
      flight.result.then(done, done);
    }
    return { result: flight.result, isJoined: known !== undefined };
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const flight: Flight<T> = { result: start(stop.signal), waiting: 0, stop };
    this.#running.set(key, flight);
    const done = () => this.#end(key, flight);
    flight.result.then(done, done);
    return flight;
  }

  #end(key: string, flight: Flight<T>): void {
    if (this.#running.get(key) === flight) this.#running.delete(key);
  }
}
