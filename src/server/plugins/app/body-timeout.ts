import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { rawProblem } from "./errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the body of a request may take as long as its client likes, because the route limits it in another way. */
    streams?: boolean;
  }
}

/** The limits of bodies, in milliseconds. */
export interface BodyTimeoutOptions {
  /** How long a body may take. */
  arrival: number;
  /** How long a client may go on sending after its answer. A connection that is cut at once could lose the answer. */
  linger: number;
}

/**
 * Ends requests whose body does not arrive in time with status 408, and cuts connections whose client goes on sending after its answer.
 * Node.js has a limit for bodies too, but only one for all routes, and routes that stream need none: what they read is as slow as a model
 * writes.
 */
export const bodyTimeout = fp(async (app: FastifyInstance, { arrival, linger }: BodyTimeoutOptions) => {
  app.addHook("onRequest", (request, reply, done) => {
    const { raw } = request;
    const cutAfter = (limit: number, cut: () => void) => {
      const timer = setTimeout(() => raw.complete || cut(), limit);
      raw.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    };
    // A request that a test injects does not say whether it is complete.
    if (raw.complete === false && !request.routeOptions.config.streams) {
      cutAfter(arrival, () => {
        if (!reply.raw.headersSent) raw.socket.write(rawProblem("ERR_HTTP_REQUEST_TIMEOUT"));
        raw.socket.destroySoon();
      });
    }
    reply.raw.once("finish", () => {
      if (raw.complete === false) cutAfter(linger, () => raw.destroy());
    });
    done();
  });
});
