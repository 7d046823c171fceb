import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Metrics } from "../plugins/metrics.ts";
import type { ScanService } from "../scan-service.ts";
import { answer } from "../schemas.ts";

const root = z.object({ name: z.string() });
const status = z.object({ status: z.string() });

/** What the routes need. */
export interface StatusRoutesOptions {
  name: string;
  service: ScanService;
  /** Absent: no metrics. */
  metrics?: Metrics;
  /** Whether metrics need no credential. */
  publicMetrics: boolean;
}

/** Who this is, whether it lives and is ready, and its metrics. */
export async function statusRoutes(
  app: FastifyInstance,
  { name, service, metrics, publicMetrics }: StatusRoutesOptions,
): Promise<void> {
  app.get("/", {
    config: { public: true },
    schema: {
      tags: ["Status"],
      operationId: "root",
      summary: "Name of the service",
      security: [],
      response: answer(root),
    },
    handler: async () => ({ name }),
  });

  app.get("/healthz", {
    config: { public: true },
    schema: {
      tags: ["Status"],
      operationId: "healthz",
      summary: "Whether the process lives",
      security: [],
      response: answer(status),
    },
    handler: async () => ({ status: "alive" }),
  });

  app.get("/readyz", {
    config: { public: true, problems: { 503: "Starting or closing" } },
    schema: {
      tags: ["Status"],
      operationId: "readyz",
      summary: "Whether the models are loaded and scans are taken",
      security: [],
      response: answer(status),
    },
    handler: async () => {
      if (service.notReady) throw service.notReady;
      return { status: "ready" };
    },
  });

  if (!metrics) return;
  app.get("/metrics", {
    config: { public: publicMetrics, ...(publicMetrics ? {} : { problems: { 401: "Not authenticated" } }) },
    schema: {
      tags: ["Status"],
      operationId: "metrics",
      summary: "Metrics for Prometheus",
      ...(publicMetrics ? { security: [] } : {}),
      response: { 200: { description: "OK", content: { "text/plain": { schema: { type: "string" } } } } },
    },
    handler: async (_request, reply) => {
      reply.type(metrics.registry.contentType).serializer((text: unknown) => text as string);
      return metrics.registry.metrics();
    },
  });
}
