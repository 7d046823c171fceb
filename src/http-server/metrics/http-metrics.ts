import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { Counter, Histogram, type Registry } from "prom-client";

/** Counts and times requests by route and status. Servers with the same registry share the metrics. */
export const httpMetrics = fp(async (app: FastifyInstance, { registry }: { registry: Registry }) => {
  const { requests, seconds } = metricsOf(registry);
  app.addHook("onResponse", (request, reply, done) => {
    // Path and method of an unknown route come from the client, so they are no labels.
    const route = request.is404 ? "none" : (request.routeOptions.url ?? "none");
    requests.inc({ method: request.is404 ? "none" : request.method, route, status: reply.statusCode });
    seconds.observe({ route }, reply.elapsedTime / 1000);
    done();
  });
});

const METRICS = new WeakMap<Registry, ReturnType<typeof newMetrics>>();

function metricsOf(registry: Registry) {
  const metrics = METRICS.get(registry) ?? newMetrics(registry);
  METRICS.set(registry, metrics);
  return metrics;
}

function newMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: "guard_http_requests_total",
    help: "Requests by route and status.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const seconds = new Histogram({
    name: "guard_http_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its response.",
    labelNames: ["route"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  return { requests, seconds };
}
