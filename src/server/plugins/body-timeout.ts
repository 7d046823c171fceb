import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { answerUnreadable } from "../../http-server/http-server.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the body of a request may take as long as its client likes, because the route limits it in another way. */
    streams?: boolean;
  }
}

/**
 * Ends requests whose body does not arrive in time with status 408. Node.js has a limit for bodies too, but only one for all routes, and
 * routes that stream need none: what they read is as slow as a model writes.
 */
export const bodyTimeout = fp(async (app: FastifyInstance, { arrival }: { /** Milliseconds. */ arrival: number }) => {
  /** When each request began that may still arrive. One timer for all of them costs a request less than one of its own. */
  const arriving = new Map<IncomingMessage, { since: number; response: ServerResponse }>();
  const endLate = () => {
    for (const [request, { since, response }] of arriving) {
      // The others began later.
      if (performance.now() - since < arrival) return;
      arriving.delete(request);
      // What is answered already has limits of its own.
      if (request.complete || response.writableEnded) continue;
      const late = Object.assign(new Error("The body took too long."), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
      answerUnreadable(late, request.socket);
    }
  };
  const timer = setInterval(endLate, arrival / 10).unref();
  app.addHook("onClose", async () => clearInterval(timer));

  app.addHook("onRequest", (request, reply, done) => {
    const { raw } = request;
    // A request that a test injects does not say whether it is complete.
    if (raw.complete !== false || request.routeOptions.config.streams) return done();
    arriving.set(raw, { since: performance.now(), response: reply.raw });
    raw.once("close", () => arriving.delete(raw));
    done();
  });
});
