import { AggregatorRegistry } from "prom-client";
import type { MetricsOfOne } from "../process-state.ts";
import { RELOADS, RELOADS_HELP } from "../server-metrics.ts";

/** What only grows, and must not fall when a worker ends: Prometheus would take it for a restart of the server. */
const GROWING = ["counter", "histogram"];

/** The metrics of all workers, those that have ended among them. What one counts after it was asked last is lost when it ends. */
export class TotalMetrics {
  readonly #last = new Map<number, MetricsOfOne>();
  /** What workers had counted that have ended. */
  #ended: MetricsOfOne[] = [];
  readonly #reloads = { success: 0, failure: 0 };

  /** Takes what a worker has counted so far. */
  take(id: number, metrics: MetricsOfOne): void {
    this.#last.set(
      id,
      metrics.filter(({ name }) => name !== RELOADS),
    );
  }

  /** Keeps what a worker has counted that has ended. */
  keep(id: number): void {
    // prom-client declares the types as numbers, and has them as words.
    const counted = this.#last.get(id)?.filter(({ type }) => GROWING.includes(type as unknown as string));
    this.#last.delete(id);
    if (!counted) return;
    const ended = [...this.#ended, counted];
    this.#ended = ended;
    void AggregatorRegistry.aggregate(ended)
      .getMetricsAsJSON()
      .then((sum) => {
        // Another worker may have ended in the meantime, whose sum is made behind this one.
        if (this.#ended === ended) this.#ended = [sum as MetricsOfOne];
      });
  }

  /** Counts a reload of all workers, which is one. */
  countReload(result: "success" | "failure"): void {
    this.#reloads[result] += 1;
  }

  all(): MetricsOfOne[] {
    const reloads = {
      name: RELOADS,
      help: RELOADS_HELP,
      type: "counter",
      aggregator: "sum",
      values: Object.entries(this.#reloads).map(([result, value]) => ({ value, labels: { result } })),
    };
    return [...this.#last.values(), ...this.#ended, [reloads] as unknown as MetricsOfOne];
  }
}
