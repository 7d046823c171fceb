import { LRUCache } from "lru-cache";
import type { Rate } from "../../config/index.ts";

/** How a caller stands with one rate. */
export interface Count {
  max: number;
  remaining: number;
  /** Milliseconds until the caller has all of `max` again. */
  ttl: number;
  /** Whether what was asked for was too much. */
  isExceeded: boolean;
}

/**
 * Counts what callers use of one rate, each in windows of time of its own: a window begins with the first use after the last one ended.
 */
export interface Counter {
  readonly rate: Rate;
  /**
   * Takes an amount out of what is left.
   *
   * @param countsRefused whether what is too much counts all the same, so that who goes on calling does not see the end of the limit
   *   any sooner. Otherwise nothing is taken.
   */
  take(key: string, amount: number, countsRefused: boolean): Promise<Count>;
}

/** The most callers that a process counts. Those that have not called for longest are forgotten first. */
const MAX_CALLERS = 50_000;

/** Counts in this process. */
export class MemoryCounter implements Counter {
  readonly rate: Rate;
  readonly #windows = new LRUCache<string, { used: number; endsAt: number }>({ max: MAX_CALLERS });

  constructor(rate: Rate) {
    this.rate = rate;
  }

  /** Tells how a caller stands. It is exceeded when nothing is left. */
  look(key: string): Count {
    const { used, endsAt } = this.#windowOf(key);
    return this.#count(used, endsAt, used < this.rate.max);
  }

  async take(key: string, amount: number, countsRefused: boolean): Promise<Count> {
    return this.takeNow(key, amount, countsRefused);
  }

  /** Does what {@link take} does, at once. */
  takeNow(key: string, amount: number, countsRefused: boolean): Count {
    const window = this.#windowOf(key);
    const fits = window.used + amount <= this.rate.max;
    if (fits || countsRefused) window.used += amount;
    this.#windows.set(key, window);
    return this.#count(window.used, window.endsAt, fits);
  }

  #windowOf(key: string): { used: number; endsAt: number } {
    const known = this.#windows.get(key);
    const now = wholeMilliseconds();
    return known && now < known.endsAt ? known : { used: 0, endsAt: now + this.rate.milliseconds };
  }

  #count(used: number, endsAt: number, fits: boolean): Count {
    return countOf(this.rate, used, endsAt - wholeMilliseconds(), fits);
  }
}

/** Where a server counts what it does not count in Redis. */
export interface Counters {
  /** @param purpose what is counted. */
  of(purpose: string, rate: Rate): Counter;
  /**
   * Lets a request of a caller in, unless so many are under way already. Who was let in must {@link leave}.
   *
   * @param most the most requests of a caller at a time.
   * @returns whether it was let in.
   */
  enter(caller: string, most: number): boolean | Promise<boolean>;
  leave(caller: string): void;
  /**
   * Counts a request without a valid credential, or looks whether its address has sent too many of them.
   *
   * @param rates how many an address may send.
   * @param pair the credential and the address of a request with a valid credential, which is not counted.
   * @returns how the address stands if the request is refused.
   */
  attempt(
    rates: readonly Rate[],
    address: string,
    pair: string | undefined,
  ): Count | undefined | Promise<Count | undefined>;
}

/** The counters of a process. One of the same purpose and rate goes on counting when the configuration is reloaded. */
export class MemoryCounters implements Counters {
  /** How many requests of each caller are under way. */
  readonly #running = new Map<string, number>();
  readonly #counters = new Map<string, MemoryCounter>();

  /** @param purpose what is counted. */
  of(purpose: string, rate: Rate): MemoryCounter {
    const key = `${purpose} ${rate.max}/${rate.milliseconds}`;
    const counter = this.#counters.get(key) ?? new MemoryCounter(rate);
    this.#counters.set(key, counter);
    return counter;
  }

  enter(caller: string, most: number): boolean {
    const running = this.#running.get(caller) ?? 0;
    if (running >= most) return false;
    this.#running.set(caller, running + 1);
    return true;
  }

  leave(caller: string): void {
    const left = (this.#running.get(caller) ?? 1) - 1;
    if (left > 0) this.#running.set(caller, left);
    else this.#running.delete(caller);
  }

  attempt(rates: readonly Rate[], address: string, pair: string | undefined): Count | undefined {
    const counters = rates.map((rate) => this.of("failures", rate));
    const count = deciding(counters.map((counter) => counter.look(address)));
    if (count.isExceeded) return count;
    if (pair === undefined) for (const counter of counters) counter.takeNow(address, 1, true);
    return undefined;
  }
}

/** A clock that nobody can set. Whole numbers are exact, so that the time left of a new window is never more than the window. */
function wholeMilliseconds(): number {
  return Math.floor(performance.now());
}

export function countOf({ max }: Rate, used: number, ttl: number, fits: boolean): Count {
  return { max, remaining: Math.max(0, max - used), ttl, isExceeded: !fits };
}

/** The rate that a caller has to know of: of those that refuse, the one that does so for longest, else the one of which least is left. */
export function deciding(counts: readonly Count[]): Count {
  return counts.reduce((one, other) => {
    if (one.isExceeded !== other.isExceeded) return one.isExceeded ? one : other;
    const isTighter =
      one.isExceeded || one.remaining === other.remaining ? other.ttl > one.ttl : other.remaining < one.remaining;
    return isTighter ? other : one;
  });
}

/** Whole seconds, as `Retry-After` and `RateLimit-Reset` have them: at least one. */
export function secondsOf({ ttl }: Count): number {
  return Math.max(1, Math.ceil(ttl / 1000));
}
