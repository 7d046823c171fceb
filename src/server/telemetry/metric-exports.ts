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
import { endpointOptions, observeExporter, PATHS } from "./collector.ts";
import { LogMetricExporter } from "./log-exporters.ts";
import type { LossCounter } from "./loss-counter.ts";
import { producerOf } from "./metric-producer.ts";

/** Defaults of the SDK's environment variables. */
const INTERVAL_MS = 60_000;
const TIMEOUT_MS = 30_000;

/**
 * Exports metrics at regular intervals.
 *
 * @returns a function that exports the last values and ends.
 */
export function exportMetrics(
  metrics: ServerMetrics,
  { exporter, endpoint }: Config["metrics"],
  { resource, log, losses }: { resource: Resource; log: FastifyBaseLogger; losses: LossCounter },
): () => Promise<void> {
  const onFailed = (_: ResourceMetrics, error?: Error) => losses.add("metrics", "export_failed", 1, error);
  const interval = getNumberFromEnv("OTEL_METRIC_EXPORT_INTERVAL") ?? INTERVAL_MS;
  const reader = new PeriodicExportingMetricReader({
    exporter:
      exporter === "console"
        ? new LogMetricExporter(log)
        : observeExporter<ResourceMetrics, PushMetricExporter>(
            new OTLPMetricExporter(endpointOptions(endpoint, PATHS.metrics)),
            {
              onFailed,
            },
          ),
    exportIntervalMillis: interval,
    exportTimeoutMillis: Math.min(interval, getNumberFromEnv("OTEL_METRIC_EXPORT_TIMEOUT") ?? TIMEOUT_MS),
    metricProducers: [producerOf(metrics)],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}
