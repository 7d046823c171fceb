import type { FastifyReply, FastifyRequest } from "fastify";
import { type Config, parseRates, type Rate } from "../../config/index.ts";
import { addressOf } from "../../http-server/callers/address.ts";
import {
  type Counters,
  type LimitStatus,
  type RateCounter,
  secondsToReset,
  strictest,
} from "../../http-server/callers/counter.ts";
import { Problem } from "../../http-server/problem.ts";
import { callerTag, RedisCounter } from "../redis/redis-counter.ts";
import type { RedisLink } from "../redis/redis-link.ts";

/** The counted units, which error messages name, and the prefixes of their counters in Redis. */
const UNITS = { requests: "rate", characters: "characters" } as const;
type Unit = keyof typeof UNITS;
/** The settings of the limits, for errors. */
const SETTINGS = { requests: "rate_limit.limit", characters: "rate_limit.characters" } as const;

/**
 * Enforces the limits of each caller, a credential or an address: rates of requests and characters, and concurrent requests.
 *
 * Refused requests count too, so a caller who keeps calling stays limited. An amount, such as the characters of a body or the texts of a
 * batch, is taken as a whole or not at all. An amount above the maximum of a rate gets 413, because no retry could succeed.
 */
export class CallerLimits {
  readonly #counters: Readonly<Record<Unit, readonly RateCounter[]>>;
  readonly #settings: Config["rateLimit"];
  readonly #link: RedisLink | undefined;
  readonly #local: Counters;

  /** @param local counters of this server, for concurrent requests, and for everything without Redis. */
  constructor(settings: Config["rateLimit"], link: RedisLink | undefined, local: Counters) {
    const countersOf = (unit: Unit, rates: string | undefined) =>
      settings.enabled && rates !== undefined
        ? (parseRates(rates) as Rate[]).map((rate) =>
            link ? new RedisCounter(rate, link.client, UNITS[unit]) : local.of(unit, rate),
          )
        : [];
    this.#settings = settings;
    this.#local = local;
    this.#link = link;
    this.#counters = {
      requests: countersOf("requests", settings.limit),
      characters: countersOf("characters", settings.characters),
    };
  }

  /**
   * Counts a request, and adds `RateLimit-*` headers to the reply.
   *
   * @throws Problem 429 above the limit.
   */
  async countRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#take("requests", request, reply, 1, true);
  }

  /**
   * Counts further requests for one that does the work of several, such as a batch of texts.
   *
   * @param count without the request itself.
   * @throws Problem 429 above the limit, 413 above its maximum.
   */
  async takeRequests(request: FastifyRequest, reply: FastifyReply, count: number): Promise<void> {
    if (count > 0) await this.#take("requests", request, reply, count, false);
  }

  /**
   * Counts the characters of a request.
   *
   * @throws Problem 429 above the limit, 413 above its maximum.
   */
  async takeCharacters(request: FastifyRequest, reply: FastifyReply, count: number): Promise<void> {
    if (count > 0) await this.#take("characters", request, reply, count, false);
  }

  /**
   * Counts a request as in progress until its response is sent or the client disconnects.
   *
   * @throws Problem 429 if too many requests of the caller are in progress.
   */
  async enter(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { enabled, maxConcurrent } = this.#settings;
    if (!enabled || maxConcurrent === undefined) return;
    const caller = this.#callerOf(request);
    if (!(await this.#local.enter(caller, maxConcurrent))) {
      throw new Problem(429, `More than ${maxConcurrent} requests are in progress; try again in 1 s.`, {
        headers: { "retry-after": "1" },
      });
    }
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#local.leave(caller);
    };
    // The client may have disconnected while the supervisor was asked.
    if (reply.raw.destroyed) return leave();
    // A broken connection emits only "close".
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
    const max = Math.min(...counters.map(({ rate }) => rate.max));
    if (amount > max) throw new Problem(413, `A request may have at most ${max} ${unit} (${SETTINGS[unit]}).`);
    const caller = this.#callerOf(request);
    const take = () => Promise.all(counters.map((counter) => counter.take(caller, amount, countsRefused)));
    const taken = this.#link ? await this.#link.use("rate_limit", callerTag(caller), take) : { value: await take() };
    if (!taken) {
      if (this.#settings.onRedisError === "allow") return;
      throw new Problem(503, "Requests cannot be counted now.", { headers: { "retry-after": "1" } });
    }
    const status = strictest(taken.value);
    if (unit === "requests" && !reply.sent) reply.headers(headersOf(status));
    if (!status.isExceeded) return;
    const seconds = secondsToReset(status);
    throw new Problem(429, `Too many ${unit}; try again in ${seconds} s.`, {
      headers: { ...headersOf(status), "retry-after": String(seconds) },
    });
  }

  /** The key of the caller. Redis has it in plain text, so it must not reveal anything of a secret. */
  #callerOf(request: FastifyRequest): string {
    const { key } = this.#settings;
    return key === "credential" && request.credential ? request.credential.name : addressOf(request);
  }
}

function headersOf(status: LimitStatus): Record<string, string> {
  const { max, remaining } = status;
  return {
    "ratelimit-limit": String(max),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(secondsToReset(status)),
  };
}
