import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { checksInReview, failingChecks } from "../../scan/report.ts";
import type { Decisions } from "../decisions/decisions.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Fields of the log line about the scans of this request; null without scans. */
    scanLog: Record<string, unknown> | null;
  }
}

export interface RequestLogOptions {
  decisions: Decisions;
  /** Whether scanned texts are logged. */
  logContent: boolean;
}

/** The names in a log line about scans. */
export interface LoggedScans {
  valid?: boolean;
  flagged?: string[];
  in_review?: string[];
  would_block?: string[];
  would_mask?: string[];
}

/** Writes one log line for each request, and adds the header `X-Request-Id` to the response. */
export const requestLog = fp(async (app: FastifyInstance, { decisions, logContent }: RequestLogOptions) => {
  decisions.listen(({ request, report, cache, content }) => {
    const { valid = true, flagged = [], ...logged } = (request.scanLog ?? {}) as LoggedScans;
    // Some dialects scan several texts of a request.
    const joined = (one: readonly string[] = [], other: readonly string[] = []) => [...new Set([...one, ...other])];
    const inReview = joined(logged.in_review, checksInReview(report));
    const wouldBlock = joined(logged.would_block, report.wouldBlock);
    const wouldMask = joined(logged.would_mask, report.wouldMask);
    request.scanLog = {
      valid: valid && report.isValid,
      flagged: joined(flagged, failingChecks(report)),
      ...(inReview.length > 0 ? { in_review: inReview } : {}),
      ...(wouldBlock.length > 0 ? { would_block: wouldBlock } : {}),
      ...(wouldMask.length > 0 ? { would_mask: wouldMask } : {}),
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
      // Unknown paths and queries come from the client, so they are not logged.
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
    request.log.info({ method: request.method, route: request.routeOptions.url }, "client disconnected");
  });
});
