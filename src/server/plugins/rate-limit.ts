import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { Config } from "../../config/index.ts";
import type { Counters } from "../../http-server/callers/counter.ts";
import { CallerLimits } from "../callers/caller-limits.ts";
import { charactersOf } from "../callers/characters.ts";
import type { RedisLink } from "../redis/redis-link.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** What callers may use. Routes take from it what a request costs besides being one request with one body. */
    callerLimits: CallerLimits;
  }
}

/** What limits requests. */
export interface RateLimitOptions {
  /** The section `rate_limit`. */
  settings: Config["rateLimit"];
  /** Where requests are counted for several servers; without it each server counts its own. */
  link: RedisLink | undefined;
  /** What counts where there is no Redis. */
  counters: Counters;
}

/**
 * Refuses clients that call too often, send too much or have too much checked at once, and tells every client how many requests are left
 * (`RateLimit-*`, draft-ietf-httpapi-ratelimit-headers). A limit by address is checked before the credential, a limit by credential
 * after it.
 *
 * What a body costs is known when it was read. The route of a body that is a stream counts what arrives.
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
    await limits.takeCharacters(request, reply, charactersOf(request.body));
  });
});
