import { LRUCache } from "lru-cache";
import { FAILURES, parseRates, type Rate } from "../../config/rate-limit.ts";
import { Problem } from "../problem.ts";
import { type Addressed, addressOf } from "./address.ts";
import { type Counters, type LimitStatus, MemoryCounters, secondsToReset } from "./counter.ts";
import type { Credential } from "./credential.ts";

/** How many pairs of a credential and an address are remembered. */
const MAX_KNOWN_PAIRS = 10_000;

/**
 * Limits the requests without a valid credential by address, which stops guessing of secrets.
 *
 * Above the limit every request of the address gets 429, whether its credential is valid or not: any other reply would confirm a correct
 * guess. A credential that was accepted from the address before is still accepted, so that an attacker behind a shared gateway cannot
 * lock out its other users.
 */
export class FailedAuth {
  readonly #rates: readonly Rate[];
  readonly #counters: Counters;
  readonly #known = new LRUCache<string, true>({ max: MAX_KNOWN_PAIRS });

  /** @param limit the rates of `rate_limit.failures`. */
  constructor(limit: string = FAILURES, counters: Counters = new MemoryCounters()) {
    this.#rates = parseRates(limit) ?? [];
    this.#counters = counters;
  }

  /**
   * Counts a request if it has no valid credential.
   *
   * @throws Problem 429 if its address is above the limit.
   */
  async check(request: Addressed, credential: Credential | undefined): Promise<void> {
    const address = addressOf(request);
    const pair = credential && `${credential.id} ${address}`;
    if (pair !== undefined && this.#known.get(pair)) return;
    const exceeded = await this.#counters.attempt(this.#rates, address, pair);
    if (exceeded) throw tooManyAttempts(exceeded);
    if (pair !== undefined) this.#known.set(pair, true);
  }
}

function tooManyAttempts(status: LimitStatus): Problem {
  const seconds = secondsToReset(status);
  return new Problem(429, `Too many requests without a valid credential; try again in ${seconds} s.`, {
    headers: { "retry-after": String(seconds) },
  });
}
