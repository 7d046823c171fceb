import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { Config } from "../../config/index.ts";
import type { Counters } from "../../http-server/callers/counter.ts";
import { CallerLimits } from "../callers/caller-limits.ts";
import { countCharacters } from "../callers/characters.ts";
import type { RedisLink } from "../redis/redis-link.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Routes take the cost of a request that is more than one request with one body. */
    callerLimits: CallerLimits;
  }
}

export interface RateLimitOptions {
  settings: Config["rateLimit"];
  /** Redis, if several servers share the limits. */
  link: RedisLink | undefined;
  counters: Counters;
}

/**
 * Limits requests, characters and concurrent requests by caller, and tells clients how many requests are left (`RateLimit-*`,
 * draft-ietf-httpapi-ratelimit-headers). Limits by address are checked before the credential, limits by credential after it. Characters
 * are counted when a body is read; routes that stream count what arrives.
 */
export const rateLimit = fp(async (app: FastifyInstance, { settings, link, counters }: RateLimitOptions) => {
  const limits = new CallerLimits(settings, link, counters);
  app.decorate("callerLimits", limits);
  if (!settings.enabled) return;

  app.addHook("onRequest", async (request, reply) => {
    if (request.routeOptions.config.public) return;
    await limits.countRequest(request, reply);
    await limits.enter(request, reply);
  });

  if (settings.characters === undefined) return;
  app.addHook("preHandler", async (request, reply) => {
    if (request.routeOptions.config.public) return;
    await limits.takeCharacters(request, reply, countCharacters(request.body));
  });
});
