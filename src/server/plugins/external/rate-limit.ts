import rateLimitPlugin, { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { type Config, parseRates, type Rate } from "../../../config/index.ts";
import { Problem } from "../../problem.ts";
import type { RedisLink } from "../../redis-link.ts";

/** What limits requests. */
export interface RateLimitOptions extends Pick<Config["rateLimit"], "limit" | "key" | "onRedisError"> {
  /** Where requests are counted for several servers; without it each server counts its own. */
  redis: RedisLink | undefined;
}

/** How a client stands with one rate. */
interface Count {
  max: number;
  remaining: number;
  /** Milliseconds until the client may call `max` times again. */
  ttl: number;
  isExceeded: boolean;
}

type Counter = (request: FastifyRequest) => Promise<Count>;

/**
 * Refuses clients that call too often, and tells every client how much is left (`RateLimit-*`, draft-ietf-httpapi-ratelimit-headers).
 * A limit by address is checked before the credential, so that it slows down guessing; a limit by credential after it.
 *
 * Each rate counts every request, those that are refused among them. The headers are those of the rate that decides: of those that
 * refuse, the one that does so for longest, and otherwise the one of which the least is left.
 */
export const rateLimit = fp(async (app: FastifyInstance, { limit, key, onRedisError, redis }: RateLimitOptions) => {
  const keyOf = (request: FastifyRequest) => (key === "credential" && request.credential) || normalizeIP(request.ip);
  const counters: Counter[] = [];
  for (const rate of parseRates(limit) as Rate[]) counters.push(await counterOf(app, rate, keyOf, redis));

  app.addHook("onRequest", async (request, reply) => {
    if (request.routeOptions.config.public) return;
    const count = () => Promise.all(counters.map((counter) => counter(request)));
    const counted = redis ? await redis.use("rate_limit", count) : { value: await count() };
    if (!counted) {
      if (onRedisError === "allow") return;
      throw new Problem(503, "Requests cannot be counted now.", { headers: { "retry-after": "1" } });
    }
    const { max, remaining, ttl, isExceeded } = deciding(counted.value);
    const seconds = Math.max(1, Math.ceil(ttl / 1000));
    reply.headers({ "ratelimit-limit": max, "ratelimit-remaining": remaining, "ratelimit-reset": seconds });
    if (!isExceeded) return;
    reply.header("retry-after", seconds);
    throw new Problem(429, `Too many requests; try again in ${seconds} s.`);
  });
});

/** What counts the requests of one rate. Each rate has an instance of the plugin of its own, because an instance has one counter. */
async function counterOf(
  app: FastifyInstance,
  { max, milliseconds }: Rate,
  keyGenerator: (request: FastifyRequest) => string,
  redis: RedisLink | undefined,
): Promise<Counter> {
  let counter: Counter | undefined;
  await app.register(async (scope) => {
    await scope.register(rateLimitPlugin, {
      global: false,
      max,
      timeWindow: milliseconds,
      cache: 50_000,
      keyGenerator,
      ...(redis ? { redis: redis.client, nameSpace: `rate:${max}/${milliseconds}:` } : {}),
    });
    // Without a list of clients that are always allowed, the plugin counts all of them.
    counter = scope.createRateLimit() as Counter;
  });
  return counter as unknown as Counter;
}

/** The rate that the client has to know of. */
function deciding(counts: readonly Count[]): Count {
  return counts.reduce((one, other) => {
    if (one.isExceeded !== other.isExceeded) return one.isExceeded ? one : other;
    const isTighter =
      one.isExceeded || one.remaining === other.remaining ? other.ttl > one.ttl : other.remaining < one.remaining;
    return isTighter ? other : one;
  });
}
