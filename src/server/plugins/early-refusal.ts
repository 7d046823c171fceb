import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { ScanKind } from "../../service/service-types.ts";
import { callerOf } from "../callers/caller.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the route scans of a body. It is absent where a route judges nothing, or more than once. */
    scans?: ScanKind;
  }
}

/**
 * Refuses requests before their bodies are read when what waits already takes too long: a server that reads and checks everything that
 * it then refuses has less time for what it lets in. The whole body is taken for text, so that a short text beside a long vault may be
 * told to come again where long texts wait. It is of use only where the length of the body is told, and where no answer is kept that
 * would cost nothing.
 */
export const earlyRefusal = fp(async (app: FastifyInstance) => {
  app.addHook("onRequest", (request, _reply, done) => {
    const { routeOptions, headers, profile } = request;
    const { scans } = routeOptions.config;
    const bytes = Number(headers["content-length"]);
    if (scans && bytes >= 0) profile.service.refuseUnread(scans, bytes, callerOf(request).turn);
    done();
  });
});
