import { LRUCache } from "lru-cache";
import { FAILURES, parseRates, type Rate } from "../../config/rate-limit.ts";
import { Problem } from "../problem.ts";
import { addressOf } from "./address.ts";
import { type Count, type Counters, MemoryCounters, secondsOf } from "./counter.ts";
import type { Credential } from "./credential.ts";

/** The most pairs of an address and a credential that are remembered. */
const MAX_KNOWN = 10_000;

/**
 * Limits how often an address may send requests without a valid credential, so that nobody can try out secrets, or make the server
 * compare and log without end.
 *
 * From the limit on a request is refused with 429 before anybody is told whether its credential is right: otherwise the answer would
 * still tell who goes on guessing. A credential that was let in from the same address before goes on being let in. So somebody behind
 * the same gateway cannot lock out its other users.
 */
export class FailedAuth {
  readonly #rates: readonly Rate[];
  readonly #counters: Counters;
  readonly #known = new LRUCache<string, true>({ max: MAX_KNOWN });

  /** @param limit rates, as `rate_limit.failures` has them. */
  constructor(limit: string = FAILURES, counters: Counters = new MemoryCounters()) {
    this.#rates = parseRates(limit) ?? [];
    this.#counters = counters;
  }

  /**
   * Counts a request without a valid credential.
   *
   * @param credential the valid credential of the request, if it has one.
   * @throws Problem 429 when its address has sent too many of them.
   */
  async check(request: { ip: string }, credential: Credential | undefined): Promise<void> {
    const address = addressOf(request);
    const pair = credential && `${credential.id} ${address}`;
    if (pair !== undefined && this.#known.get(pair)) return;
    const count = await this.#counters.attempt(this.#rates, address, pair);
    if (count) throw refusal(count);
    if (pair !== undefined) this.#known.set(pair, true);
  }
}

function refusal(count: Count): Problem {
  const seconds = secondsOf(count);
  return new Problem(429, `Too many requests without a valid credential; try again in ${seconds} s.`, {
    headers: { "retry-after": String(seconds) },
  });
}
