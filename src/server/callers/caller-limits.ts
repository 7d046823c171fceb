import type { FastifyReply, FastifyRequest } from "fastify";
import { type Config, parseRates, type Rate } from "../../config/index.ts";
import { addressOf } from "../../http-server/callers/address.ts";
import { type Count, type Counter, type Counters, deciding, secondsOf } from "../../http-server/callers/counter.ts";
import { Problem } from "../../http-server/problem.ts";
import { RedisCounter } from "../redis/redis-counter.ts";
import type { RedisLink } from "../redis/redis-link.ts";

/** What is counted, with what the names of its counters in Redis begin with. Answers that refuse it say it in the same word. */
const UNITS = { requests: "rate", characters: "characters" } as const;
type Unit = keyof typeof UNITS;

/**
 * What each caller may use: how many requests and characters, each by one rate or several, and how many requests at a time. A caller is
 * a credential or an address.
 *
 * A rate counts every request, those that are refused among them: who calls on and on is not let in. Of an amount of several, such
 * as the characters of a body or the texts of a batch, all are taken or none. What is more than a rate ever has is refused with 413,
 * because no later try could succeed.
 */
export class CallerLimits {
  readonly #counters: Readonly<Record<Unit, readonly Counter[]>>;
  readonly #settings: Config["rateLimit"];
  readonly #link: RedisLink | undefined;
  readonly #own: Counters;

  constructor(settings: Config["rateLimit"], link: RedisLink | undefined, own: Counters) {
    const countersOf = (unit: Unit, rates: string | undefined) =>
      settings.enabled && rates !== undefined
        ? (parseRates(rates) as Rate[]).map((rate) =>
            link ? new RedisCounter(rate, link.client, UNITS[unit]) : own.of(unit, rate),
          )
        : [];
    this.#settings = settings;
    this.#own = own;
    this.#link = link;
    this.#counters = {
      requests: countersOf("requests", settings.limit),
      characters: countersOf("characters", settings.characters),
    };
  }

  /**
   * Counts a request, and tells the client how many are left (`RateLimit-*`).
   *
   * @throws Problem 429 when there are too many.
   */
  async countRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#take("requests", request, reply, 1, true);
  }

  /**
   * Takes further requests for one that does the work of several, such as a batch of texts.
   *
   * @param count how many there are besides the request itself.
   * @throws Problem 429 when fewer are left, and 413 when there are never so many.
   */
  async takeRequests(request: FastifyRequest, reply: FastifyReply, count: number): Promise<void> {
    if (count > 0) await this.#take("requests", request, reply, count, false);
  }

  /**
   * Takes the characters that a request sent.
   *
   * @throws Problem 429 when fewer are left, and 413 when there are never so many.
   */
  async takeCharacters(request: FastifyRequest, reply: FastifyReply, count: number): Promise<void> {
    if (count > 0) await this.#take("characters", request, reply, count, false);
  }

  /**
   * Lets a request in until its answer is out or its client has gone.
   *
   * @throws Problem 429 when too many requests of the caller are under way.
   */
  async enter(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { enabled, maxConcurrent } = this.#settings;
    if (!enabled || maxConcurrent === undefined) return;
    const caller = this.#callerOf(request);
    if (!(await this.#own.enter(caller, maxConcurrent))) {
      throw new Problem(429, `No more than ${maxConcurrent} requests at a time are taken; try again in 1 s.`, {
        headers: { "retry-after": "1" },
      });
    }
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#own.leave(caller);
    };
    // The client may have gone while the answer of another process was waited for.
    if (reply.raw.destroyed) return leave();
    // A connection that breaks off has no end of the answer, only this.
    reply.raw.once("close", leave);
    reply.raw.once("finish", leave);
  }

  async #take(
    unit: Unit,
    request: FastifyRequest,
    reply: FastifyReply,
    amount: number,
    countsRefused: boolean,
  ): Promise<void> {
    const counters = this.#counters[unit];
    if (counters.length === 0) return;
    const most = Math.min(...counters.map(({ rate }) => rate.max));
    if (amount > most) throw new Problem(413, `A request may have ${most} ${unit} at most.`);
    const caller = this.#callerOf(request);
    const count = () => Promise.all(counters.map((counter) => counter.take(caller, amount, countsRefused)));
    const counted = this.#link ? await this.#link.use("rate_limit", count) : { value: await count() };
    if (!counted) {
      if (this.#settings.onRedisError === "allow") return;
      throw new Problem(503, "Requests cannot be counted now.", { headers: { "retry-after": "1" } });
    }
    const decides = deciding(counted.value);
    if (unit === "requests" && !reply.sent) reply.headers(headersOf(decides));
    if (!decides.isExceeded) return;
    const seconds = secondsOf(decides);
    throw new Problem(429, `Too many ${unit}; try again in ${seconds} s.`, {
      headers: { ...headersOf(decides), "retry-after": String(seconds) },
    });
  }

  /** The caller of a request. Redis has this text in clear, so that it must not tell anything of a secret. */
  #callerOf(request: FastifyRequest): string {
    const { key } = this.#settings;
    return key === "credential" && request.credential ? request.credential.name : addressOf(request);
  }
}

function headersOf(count: Count): Record<string, string> {
  const { max, remaining } = count;
  return {
    "ratelimit-limit": String(max),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(secondsOf(count)),
  };
}
