import { type ExportResult, ExportResultCode, hrTimeToMilliseconds } from "@opentelemetry/core";
import type { PushMetricExporter, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-node";
import type { FastifyBaseLogger } from "fastify";

// The console exporters of the SDK always write to standard output, in other formats than the JSON of the log.

/** Writes each span as one log line. */
export class LogSpanExporter implements SpanExporter {
  readonly #log: FastifyBaseLogger;

  constructor(log: FastifyBaseLogger) {
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    for (const ended of spans) {
      const { name, parentSpanContext, startTime, duration, status, attributes } = ended;
      const { traceId, spanId } = ended.spanContext();
      const span = {
        name,
        trace_id: traceId,
        span_id: spanId,
        ...(parentSpanContext ? { parent_span_id: parentSpanContext.spanId } : {}),
        start: new Date(hrTimeToMilliseconds(startTime)).toISOString(),
        ms: hrTimeToMilliseconds(duration),
        status: status.code,
        attributes,
      };
      this.#log.info({ span }, "span");
    }
    done({ code: ExportResultCode.SUCCESS });
  }

  async shutdown(): Promise<void> {}
}

/** Writes all metrics as one log line: the values of each metric with their labels; sum and count of a histogram. */
export class LogMetricExporter implements PushMetricExporter {
  readonly #log: FastifyBaseLogger;

  constructor(log: FastifyBaseLogger) {
    this.#log = log;
  }

  export({ scopeMetrics }: ResourceMetrics, done: (result: ExportResult) => void): void {
    const metrics = Object.fromEntries(
      scopeMetrics
        .flatMap(({ metrics }) => metrics)
        .map(({ descriptor, dataPoints }) => [
          descriptor.name,
          dataPoints.map(({ attributes, value }) => ({
            ...attributes,
            ...(typeof value === "number" ? { value } : { sum: value.sum, count: value.count }),
          })),
        ]),
    );
    this.#log.info({ metrics }, "metrics");
    done({ code: ExportResultCode.SUCCESS });
  }

  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}
}
