import { getNumberFromEnv } from "@opentelemetry/core";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import type { Resource } from "@opentelemetry/resources";
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../config/index.ts";
import type { ServerMetrics } from "../process/server-metrics.ts";
import { addressOf, PATHS, watched } from "./collector.ts";
import { LogMetricExporter } from "./log-exporters.ts";
import type { Losses } from "./losses.ts";
import { producerOf } from "./metric-producer.ts";

/** Milliseconds between exports, and for one export, unless the environment says otherwise (OpenTelemetry, SDK environment variables). */
const INTERVAL = 60_000;
const TIMEOUT = 30_000;

/**
 * Exports what is counted at regular intervals.
 *
 * @returns what exports the last values, and ends.
 */
export function exportMetrics(
  metrics: ServerMetrics,
  { exporter, endpoint }: Config["metrics"],
  { resource, log, losses }: { resource: Resource; log: FastifyBaseLogger; losses: Losses },
): () => Promise<void> {
  const onFailed = (_: ResourceMetrics, error?: Error) => losses.add("metrics", "export_failed", 1, error);
  const interval = getNumberFromEnv("OTEL_METRIC_EXPORT_INTERVAL") ?? INTERVAL;
  const reader = new PeriodicExportingMetricReader({
    exporter:
      exporter === "console"
        ? new LogMetricExporter(log)
        : watched<ResourceMetrics, PushMetricExporter>(new OTLPMetricExporter(addressOf(endpoint, PATHS.metrics)), {
            onFailed,
          }),
    exportIntervalMillis: interval,
    exportTimeoutMillis: Math.min(interval, getNumberFromEnv("OTEL_METRIC_EXPORT_TIMEOUT") ?? TIMEOUT),
    metricProducers: [producerOf(metrics)],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}
