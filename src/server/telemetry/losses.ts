import type { FastifyBaseLogger } from "fastify";
import type { ServerMetrics } from "../process/server-metrics.ts";

/** What is exported: OpenTelemetry calls these signals. */
export type Signal = "traces" | "metrics";

/** Why something was not exported: the collector did not take it, or took too long to take what came before. */
export type LossReason = "export_failed" | "queue_full";

/** Counts what does not reach a collector, and says so once for each signal and reason. No request notices any of it. */
export class Losses {
  readonly #log: FastifyBaseLogger;
  readonly #metrics: ServerMetrics;
  readonly #said = new Set<string>();

  constructor(log: FastifyBaseLogger, metrics: ServerMetrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /**
   * @param count the number of spans, or of exports of metrics.
   * @param error what the exporter said. It speaks of addresses and states, and holds nothing of a request.
   */
  add(signal: Signal, reason: LossReason, count: number, error?: Error): void {
    this.#metrics.countLostTelemetry(signal, reason, count);
    const kind = `${signal} ${reason}`;
    if (this.#said.has(kind)) return;
    this.#said.add(kind);
    const { message, code } = (error ?? {}) as { message?: string; code?: unknown };
    // An error of several addresses has no message of its own.
    const because = message || code;
    this.#log.warn(
      { signal, reason, ...(because ? { error: String(because) } : {}) },
      `${signal} do not reach the collector (said once; guard_telemetry_lost_total counts them)`,
    );
  }
}
