import type { FastifyInstance } from "fastify";
import { AggregatorRegistry } from "prom-client";
import { authProblems } from "../http/problem-replies.ts";
import type { WorkerPool } from "../process/process-state.ts";
import type { ServerMetrics } from "../process/server-metrics.ts";

export interface MetricsRouteOptions {
  metrics: ServerMetrics;
  /** All processes, whose metrics are aggregated. */
  pool?: WorkerPool | undefined;
  /** Whether metrics need no credential. */
  public: boolean;
}

/** `GET /metrics`: metrics in the text format of Prometheus. */
export async function metricsRoute(
  app: FastifyInstance,
  { metrics, pool, public: isPublic }: MetricsRouteOptions,
): Promise<void> {
  const example = 'guard_http_requests_total{method="POST",route="/scan/prompt",status="200"} 2';
  app.get("/metrics", {
    config: { public: isPublic, ...(isPublic ? {} : { problems: authProblems }) },
    schema: {
      tags: ["Status"],
      operationId: "metrics",
      summary: "Metrics for Prometheus",
      ...(isPublic ? { security: [] } : {}),
      response: { 200: { description: "OK", content: { "text/plain": { schema: { type: "string" }, example } } } },
    },
    handler: async (_request, reply) => {
      reply.type(metrics.registry.contentType).serializer((text: unknown) => text as string);
      if (!pool) return metrics.registry.metrics();
      return AggregatorRegistry.aggregate(await pool.metrics()).metrics();
    },
  });
}
