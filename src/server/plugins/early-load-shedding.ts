import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { ScanKind } from "../../service/service-types.ts";
import { callerOf } from "../callers/caller.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the route scans. Absent if it scans nothing, or several texts one by one. */
    scans?: ScanKind;
  }
}

/**
 * Sheds load before a body is read, so that an overloaded server spends no time on bodies that it will refuse. It needs Content-Length,
 * and counts the whole body as text: a short text with a long vault may be refused while long texts wait. With a cache it must not be
 * used, because a cached result costs nothing.
 */
export const earlyLoadShedding = fp(async (app: FastifyInstance) => {
  app.addHook("onRequest", (request, _reply, done) => {
    const { routeOptions, headers, profile } = request;
    const { scans } = routeOptions.config;
    const bytes = Number(headers["content-length"]);
    if (scans && bytes >= 0) profile.service.refuseUnread(scans, bytes, callerOf(request).turn);
    done();
  });
});
