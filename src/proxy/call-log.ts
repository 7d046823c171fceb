import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { Counter, Gauge, type Registry } from "prom-client";
import type { CallRecord } from "./call-record.ts";
import { isOwn } from "./own-routes.ts";
import type { Plan } from "./plan.ts";
import type { Target } from "./upstreams.ts";

/** A request to the proxy that goes on to upstream. */
export interface ProxiedCall {
  target: Target;
  plan: Exclude<Plan, { kind: "refused" }>;
  record: CallRecord;
  /** Whether upstream has broken off its answer. */
  isBroken: boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Where a request to the proxy goes, and what became of it. Null for guard's own routes, and for what is refused. */
    proxied: ProxiedCall | null;
  }
}

/** What the log of calls needs. */
export interface CallLogOptions {
  registry: Registry;
  /** Where calls of upstreams stand until they have ended. */
  running: Set<FastifyRequest>;
}

/**
 * Writes one log line for each request when its answer has ended, however it has, and counts guarded calls. The line has no path and no
 * query, which may hold anything.
 */
export const callLog = fp(async (app: FastifyInstance, { registry, running }: CallLogOptions) => {
  const registers = [registry];
  new Gauge({
    name: "guard_proxy_calls_running",
    help: "Calls that have not ended yet.",
    registers,
    collect() {
      this.set(running.size);
    },
  });
  const calls = new Counter({
    name: "guard_proxy_calls_total",
    help: "Guarded calls by the format of the API and by what became of their texts.",
    labelNames: ["call", "outcome"],
    registers,
  });
  app.decorateRequest("proxied", null);

  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    if (!isOwn(request)) running.add(request);
    reply.raw.once("close", () => {
      running.delete(request);
      const { proxied } = request;
      const call = proxied?.plan.kind === "guarded" ? proxied.plan.format.name : (proxied?.plan.kind ?? "refused");
      if (proxied?.plan.kind === "guarded") calls.inc({ call, outcome: proxied.record.outcome ?? "unchecked" });
      const line = {
        method: request.method,
        ...(isOwn(request) ? { route: request.routeOptions.url } : { call }),
        ...(proxied?.target.upstream.prefix ? { upstream: proxied.target.upstream.prefix } : {}),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        ...proxied?.record.fields,
        ...(reply.raw.writableFinished ? {} : { cut: proxied?.isBroken ? "by upstream" : "by client" }),
      };
      if (isOwn(request) && reply.statusCode < 400) request.log.debug(line, "request");
      else request.log.info(line, "request");
    });
  });
});
