import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { Decisions } from "../decisions/decisions.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What the log line of this request says about its scan; null where nothing was scanned. */
    scanLog: Record<string, unknown> | null;
  }
}

/** What the log has to know. */
export interface RequestLogOptions {
  decisions: Decisions;
  /** Whether the log may have the texts. */
  logContent: boolean;
}

/** Writes one log line for each request, and the request's id into the answer (`X-Request-Id`). */
export const requestLog = fp(async (app: FastifyInstance, { decisions, logContent }: RequestLogOptions) => {
  decisions.listen(({ request, report, cache, content }) => {
    const { valid = true, flagged = [] } = (request.scanLog ?? {}) as { valid?: boolean; flagged?: string[] };
    const failing = Object.keys(report.resultsValid).filter((name) => !report.resultsValid[name]);
    // Some requests of other products have several scans.
    request.scanLog = {
      valid: valid && report.isValid,
      flagged: [...new Set([...flagged, ...failing])],
      ...(cache ? { cache } : {}),
      ...(logContent ? { content: { ...(request.scanLog?.content as object), ...content() } } : {}),
    };
  });
  app.decorateRequest("scanLog", null);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const line = {
      method: request.method,
      // Paths that no route answers and all queries may hold anything, so they are not logged.
      route: request.is404 ? null : request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      ...request.scanLog,
    };
    if (request.routeOptions.config.public && reply.statusCode < 400) request.log.debug(line, "request");
    else request.log.info(line, "request");
    done();
  });
  app.addHook("onRequestAbort", async (request) => {
    request.log.info({ method: request.method, route: request.routeOptions.url }, "client went away");
  });
});
