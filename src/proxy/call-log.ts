import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { Registry } from "prom-client";
import { CallMetrics } from "./call-metrics.ts";
import type { CallPlan } from "./call-plan.ts";
import type { CallRecord } from "./call-record.ts";
import { isOwnRoute } from "./own-routes.ts";
import type { Target } from "./upstreams.ts";

/** A call that goes to an upstream. */
export interface ProxiedCall {
  target: Target;
  plan: Exclude<CallPlan, { kind: "refused" }>;
  record: CallRecord;
  /** Whether the upstream has broken off its response. */
  isBroken: boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The call to the upstream. Null for own routes of the proxy and refused calls. */
    proxied: ProxiedCall | null;
  }
}

export interface CallLogOptions {
  registry: Registry;
  /** Contains calls in progress. */
  running: Set<FastifyRequest>;
}

/**
 * Writes one log line for each request when its response has ended or was cut, and counts guarded calls. The line has no path and no query,
 * because clients choose them freely.
 */
export const callLog = fp(async (app: FastifyInstance, { registry, running }: CallLogOptions) => {
  const metrics = new CallMetrics(registry, "proxy", () => running.size);
  app.decorateRequest("proxied", null);

  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    if (!isOwnRoute(request)) running.add(request);
    reply.raw.once("close", () => {
      running.delete(request);
      const { proxied } = request;
      const call = proxied?.plan.kind === "guarded" ? proxied.plan.format.name : (proxied?.plan.kind ?? "refused");
      if (proxied?.plan.kind === "guarded") metrics.count(call, proxied.record);
      const line = {
        method: request.method,
        ...(isOwnRoute(request) ? { route: request.routeOptions.url } : { call }),
        ...(proxied?.target.upstream.prefix ? { upstream: proxied.target.upstream.prefix } : {}),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        ...proxied?.record.fields,
        ...(reply.raw.writableFinished ? {} : { cut: proxied?.isBroken ? "by upstream" : "by client" }),
      };
      if (isOwnRoute(request) && reply.statusCode < 400) request.log.debug(line, "request");
      else request.log.info(line, "request");
    });
  });
});
