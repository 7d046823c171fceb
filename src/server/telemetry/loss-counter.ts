import type { FastifyBaseLogger } from "fastify";
import type { ServerMetrics } from "../process/server-metrics.ts";

/** A kind of telemetry in OpenTelemetry. */
export type Signal = "traces" | "metrics";

export type LossReason = "export_failed" | "queue_full";

/** Counts telemetry that does not reach the collector, and logs the first loss of each signal and reason. */
export class LossCounter {
  readonly #log: FastifyBaseLogger;
  readonly #metrics: ServerMetrics;
  readonly #logged = new Set<string>();

  constructor(log: FastifyBaseLogger, metrics: ServerMetrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /**
   * @param count the number of spans, or of exports of metrics.
   * @param error the error of the exporter, which contains addresses and states but no content of a request.
   */
  add(signal: Signal, reason: LossReason, count: number, error?: Error): void {
    this.#metrics.countLostTelemetry(signal, reason, count);
    const kind = `${signal} ${reason}`;
    if (this.#logged.has(kind)) return;
    this.#logged.add(kind);
    const { message, code } = (error ?? {}) as { message?: string; code?: unknown };
    // An AggregateError of several addresses has no message.
    const because = message || code;
    this.#log.warn(
      { signal, reason, ...(because ? { error: String(because) } : {}) },
      `${signal} do not reach the collector (logged once; guard_telemetry_lost_total counts them)`,
    );
  }
}
