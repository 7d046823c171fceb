import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { handleClientError } from "../../http-server/http-server.ts";
import { Bag } from "../../support/bag.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route reads its body as a stream, with limits of its own. */
    streams?: boolean;
  }
}

interface IncompleteRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAt: number;
  isOverdue: boolean;
}

/**
 * Ends requests whose body does not arrive in time with status 408. The timeout of Node.js applies to all routes, but routes that stream
 * read as slowly as a model writes.
 */
export const bodyTimeout = fp(async (app: FastifyInstance, { timeoutMs }: { timeoutMs: number }) => {
  /** Incomplete requests. One timer for all is cheaper than one for each request. */
  const receiving = new Bag<IncompleteRequest>();
  const endOverdue = () => {
    for (const incomplete of receiving) {
      const { request, response, startedAt, isOverdue } = incomplete;
      if (isOverdue || performance.now() - startedAt < timeoutMs) continue;
      incomplete.isOverdue = true;
      // The lingering close limits requests that have their response.
      if (request.complete || response.writableEnded) continue;
      const error = Object.assign(new Error("The body took too long."), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
      handleClientError(error, request.socket);
    }
  };
  const timer = setInterval(endOverdue, timeoutMs / 10).unref();
  app.addHook("onClose", async () => clearInterval(timer));

  app.addHook("onRequest", (request, reply, done) => {
    const { raw } = request;
    // Injected requests of tests have no `complete`.
    if (raw.complete !== false || request.routeOptions.config.streams) return done();
    raw.once(
      "close",
      receiving.add({ request: raw, response: reply.raw, startedAt: performance.now(), isOverdue: false }),
    );
    done();
  });
});
