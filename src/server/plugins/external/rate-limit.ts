import rateLimitPlugin, { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { type Config, parseRate, type Rate } from "../../../config/index.ts";
import { Problem } from "../../problem.ts";

/**
 * Refuses clients that call too often, and tells every client how much is left (`RateLimit-*`, draft-ietf-httpapi-ratelimit-headers).
 * A limit by address is checked before the credential, so that it slows down guessing; a limit by credential after it.
 */
export const rateLimit = fp(async (app: FastifyInstance, { limit, key }: Config["rateLimit"]) => {
  const { max, milliseconds } = parseRate(limit) as Rate;
  await app.register(rateLimitPlugin, {
    global: false,
    max,
    timeWindow: milliseconds,
    cache: 50_000,
    enableDraftSpec: true,
    keyGenerator: (request) => (key === "credential" && request.credential) || normalizeIP(request.ip),
    errorResponseBuilder: (_request, { ttl }) =>
      new Problem(429, `Too many requests; try again in ${Math.ceil(ttl / 1000)} s.`),
  });
  const check = app.rateLimit();
  app.addHook("onRequest", async function (request, reply) {
    if (!request.routeOptions.config.public) await check.call(this, request, reply);
  });
});
