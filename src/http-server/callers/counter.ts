import { LRUCache } from "lru-cache";
import type { Rate } from "../../config/index.ts";

/** The state of one rate limit for one caller. */
export interface LimitStatus {
  max: number;
  remaining: number;
  /** Milliseconds until the window ends and the caller has all of `max` again. */
  resetMs: number;
  isExceeded: boolean;
}

/** Counts the use of one rate by caller, in fixed windows. The window of a caller starts with the first use after the last window. */
export interface RateCounter {
  readonly rate: Rate;
  /**
   * Takes an amount from the rest of the window.
   *
   * @param countsRefused whether a refused amount counts too, so that a caller who keeps calling stays limited. Otherwise a refused
   *   amount leaves the counter as it is.
   */
  take(key: string, amount: number, countsRefused: boolean): Promise<LimitStatus>;
}

/** The least recently seen callers beyond this number are forgotten. */
const MAX_CALLERS = 50_000;

/** Counts in the memory of this process. */
export class MemoryCounter implements RateCounter {
  readonly rate: Rate;
  readonly #windows = new LRUCache<string, { used: number; endsAt: number }>({ max: MAX_CALLERS });

  constructor(rate: Rate) {
    this.rate = rate;
  }

  /** Returns the status without taking anything. It is exceeded if nothing is left. */
  look(key: string): LimitStatus {
    const { used, endsAt } = this.#windowOf(key);
    return this.#status(used, endsAt, used < this.rate.max);
  }

  async take(key: string, amount: number, countsRefused: boolean): Promise<LimitStatus> {
    return this.takeNow(key, amount, countsRefused);
  }

  /** The synchronous form of {@link take}. */
  takeNow(key: string, amount: number, countsRefused: boolean): LimitStatus {
    const window = this.#windowOf(key);
    const fits = window.used + amount <= this.rate.max;
    if (fits || countsRefused) window.used += amount;
    this.#windows.set(key, window);
    return this.#status(window.used, window.endsAt, fits);
  }

  #windowOf(key: string): { used: number; endsAt: number } {
    const known = this.#windows.get(key);
    const now = wholeMilliseconds();
    return known && now < known.endsAt ? known : { used: 0, endsAt: now + this.rate.milliseconds };
  }

  #status(used: number, endsAt: number, fits: boolean): LimitStatus {
    return limitStatus(this.rate, used, endsAt - wholeMilliseconds(), fits);
  }
}

/** The counters of a server that are not in Redis: in this process, or in the supervisor of several. */
export interface Counters {
  /** @param purpose what is counted, such as `requests`. */
  of(purpose: string, rate: Rate): RateCounter;
  /**
   * Admits a request of a caller, unless the caller has too many in progress. Every admitted request must {@link leave}.
   *
   * @returns whether it is admitted.
   */
  enter(caller: string, maxConcurrent: number): boolean | Promise<boolean>;
  leave(caller: string): void;
  /**
   * Counts an authentication attempt of an address.
   *
   * @param pair credential and address, if the credential is valid. Such a request is checked and not counted.
   * @returns the exceeded limit if the request must be refused.
   */
  attempt(
    rates: readonly Rate[],
    address: string,
    pair: string | undefined,
  ): LimitStatus | undefined | Promise<LimitStatus | undefined>;
}

/** The counters of a process. A counter with the same purpose and rate continues after a reload of the configuration. */
export class MemoryCounters implements Counters {
  /** Requests in progress by caller. */
  readonly #running = new Map<string, number>();
  readonly #counters = new Map<string, MemoryCounter>();

  of(purpose: string, rate: Rate): MemoryCounter {
    const key = `${purpose} ${rate.max}/${rate.milliseconds}`;
    const counter = this.#counters.get(key) ?? new MemoryCounter(rate);
    this.#counters.set(key, counter);
    return counter;
  }

  enter(caller: string, maxConcurrent: number): boolean {
    const running = this.#running.get(caller) ?? 0;
    if (running >= maxConcurrent) return false;
    this.#running.set(caller, running + 1);
    return true;
  }

  leave(caller: string): void {
    const left = (this.#running.get(caller) ?? 1) - 1;
    if (left > 0) this.#running.set(caller, left);
    else this.#running.delete(caller);
  }

  attempt(rates: readonly Rate[], address: string, pair: string | undefined): LimitStatus | undefined {
    const counters = rates.map((rate) => this.of("failures", rate));
    const status = strictest(counters.map((counter) => counter.look(address)));
    if (status.isExceeded) return status;
    if (pair === undefined) for (const counter of counters) counter.takeNow(address, 1, true);
    return undefined;
  }
}

/** A monotonic clock. Integers are exact, so the rest of a new window is never longer than the window. */
function wholeMilliseconds(): number {
  return Math.floor(performance.now());
}

export function limitStatus({ max }: Rate, used: number, resetMs: number, fits: boolean): LimitStatus {
  return { max, remaining: Math.max(0, max - used), resetMs, isExceeded: !fits };
}

/** Returns the limit that a client must observe: the exceeded one that resets last, otherwise the one with the least remaining. */
export function strictest(statuses: readonly LimitStatus[]): LimitStatus {
  return statuses.reduce((one, other) => {
    if (one.isExceeded !== other.isExceeded) return one.isExceeded ? one : other;
    const isTighter =
      one.isExceeded || one.remaining === other.remaining
        ? other.resetMs > one.resetMs
        : other.remaining < one.remaining;
    return isTighter ? other : one;
  });
}

/** Whole seconds for `Retry-After` and `RateLimit-Reset`, at least one. */
export function secondsToReset({ resetMs }: LimitStatus): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}
