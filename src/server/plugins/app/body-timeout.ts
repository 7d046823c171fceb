import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { rawProblem } from "./errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the body of a request may take as long as its client likes, because the route limits it in another way. */
    streams?: boolean;
  }
}

/**
 * Ends requests whose body does not arrive in time with status 408. Node.js has such a limit too, but only one for all routes, and
 * routes that stream need none: what they read is as slow as a model writes.
 */
export const bodyTimeout = fp(async (app: FastifyInstance, { milliseconds }: { milliseconds: number }) => {
  app.addHook("onRequest", (request, reply, done) => {
    const { raw } = request;
    if (!raw.complete && !request.routeOptions.config.streams) {
      const timer = setTimeout(() => {
        if (raw.complete) return;
        if (!reply.raw.headersSent) raw.socket.write(rawProblem("ERR_HTTP_REQUEST_TIMEOUT"));
        raw.socket.destroySoon();
      }, milliseconds);
      raw.once("end", () => clearTimeout(timer));
      reply.raw.once("close", () => clearTimeout(timer));
    }
    done();
  });
});
