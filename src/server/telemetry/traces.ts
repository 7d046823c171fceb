import type { TextMapPropagator, Tracer } from "@opentelemetry/api";
import { CompositePropagator, getNumberFromEnv, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { AWSXRayIdGenerator } from "@opentelemetry/id-generator-aws-xray";
import { AWSXRayPropagator } from "@opentelemetry/propagator-aws-xray";
import type { Resource } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../config/index.ts";
import { version } from "../../support/version.ts";
import { endpointOptions, observeExporter, PATHS } from "./collector.ts";
import { LogSpanExporter } from "./log-exporters.ts";
import type { LossCounter } from "./loss-counter.ts";

export interface Traces {
  tracer: Tracer;
  /** Reads the trace context from the headers of a request. */
  propagator: TextMapPropagator;
  /** Exports the remaining spans and ends. */
  shutdown(): Promise<void>;
}

/**
 * Creates the traces of one server. It sets nothing global, so that servers of one process are independent and a program may use
 * OpenTelemetry itself. The SDK reads the `OTEL_*` variables of the sampler, the batches and the limits of spans.
 */
export function makeTraces(
  { exporter, endpoint }: Config["tracing"],
  { resource, log, losses }: { resource: Resource; log: FastifyBaseLogger; losses: LossCounter },
): Traces {
  const processor =
    exporter === "console"
      ? new SimpleSpanProcessor(new LogSpanExporter(log))
      : batchProcessor(new OTLPTraceExporter(endpointOptions(endpoint, PATHS.traces)), losses);
  const isXRay = exporter === "xray";
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [processor],
    // X-Ray requires ids that start with the time.
    ...(isXRay ? { idGenerator: new AWSXRayIdGenerator() } : {}),
  });
  const w3c = new W3CTraceContextPropagator();
  return {
    tracer: provider.getTracer("guard", version),
    // With both headers, the one of AWS load balancers and gateways wins.
    propagator: isXRay ? new CompositePropagator({ propagators: [w3c, new AWSXRayPropagator()] }) : w3c,
    shutdown: () => provider.shutdown(),
  };
}

/** Exports spans in batches, and counts lost ones. The processor of the SDK drops spans silently, so its limit is checked here first. */
function batchProcessor(exporter: SpanExporter, losses: LossCounter): SpanProcessor {
  const maxQueueSize = getNumberFromEnv("OTEL_BSP_MAX_QUEUE_SIZE") ?? 2048;
  let waiting = 0;
  const batches = new BatchSpanProcessor(
    observeExporter<ReadableSpan[], SpanExporter>(exporter, {
      onTaken(spans) {
        waiting -= spans.length;
      },
      onFailed: (spans, error) => losses.add("traces", "export_failed", spans.length, error),
    }),
    { maxQueueSize },
  );
  return {
    onStart() {},
    onEnd(span) {
      if (waiting >= maxQueueSize) return losses.add("traces", "queue_full", 1);
      waiting++;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}
