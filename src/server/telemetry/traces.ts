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
import { addressOf, PATHS, watched } from "./collector.ts";
import { LogSpanExporter } from "./log-exporters.ts";
import type { Losses } from "./losses.ts";

/** How spans are made, continued and exported. */
export interface Traces {
  tracer: Tracer;
  /** Reads the trace that a request belongs to from its headers. */
  propagator: TextMapPropagator;
  /** Exports what is left, and ends. */
  shutdown(): Promise<void>;
}

/**
 * Makes the traces of one server. Nothing global is set, so that servers of one process keep apart, and a program may use
 * OpenTelemetry in its own way.
 *
 * The sampler, the batches and the limits of spans are those of the `OTEL_*` variables, which the SDK reads.
 */
export function makeTraces(
  { exporter, endpoint }: Config["tracing"],
  { resource, log, losses }: { resource: Resource; log: FastifyBaseLogger; losses: Losses },
): Traces {
  const processor =
    exporter === "console"
      ? new SimpleSpanProcessor(new LogSpanExporter(log))
      : inBatches(new OTLPTraceExporter(addressOf(endpoint, PATHS.traces)), losses);
  const isXRay = exporter === "xray";
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [processor],
    // X-Ray refuses ids that do not begin with the time.
    ...(isXRay ? { idGenerator: new AWSXRayIdGenerator() } : {}),
  });
  const w3c = new W3CTraceContextPropagator();
  return {
    tracer: provider.getTracer("guard", version),
    // AWS's load balancers and gateways have the last word where a request has both headers.
    propagator: isXRay ? new CompositePropagator({ propagators: [w3c, new AWSXRayPropagator()] }) : w3c,
    shutdown: () => provider.shutdown(),
  };
}

/**
 * Exports spans in batches, and counts those that are lost. The SDK's processor drops spans without a word when its queue is full,
 * so the same limit is kept here, where it can be counted.
 */
function inBatches(exporter: SpanExporter, losses: Losses): SpanProcessor {
  const maxQueueSize = getNumberFromEnv("OTEL_BSP_MAX_QUEUE_SIZE") ?? 2048;
  let waiting = 0;
  const batches = new BatchSpanProcessor(
    watched<ReadableSpan[], SpanExporter>(exporter, {
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
