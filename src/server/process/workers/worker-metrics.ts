import { AggregatorRegistry } from "prom-client";
import type { ProcessMetrics } from "../process-state.ts";
import { RELOADS, RELOADS_HELP } from "../server-metrics.ts";

/** Metric types that must not decrease when a worker ends: Prometheus would see a restart of the server. */
const CUMULATIVE = ["counter", "histogram"];

/** The metrics of all workers, including ended ones. What a worker counts after the last scrape is lost when it ends. */
export class WorkerMetrics {
  readonly #latest = new Map<number, ProcessMetrics>();
  /** Cumulative metrics of ended workers. */
  #ended: ProcessMetrics[] = [];
  readonly #reloads = { success: 0, failure: 0 };

  /** Stores the current metrics of a worker. */
  update(id: number, metrics: ProcessMetrics): void {
    this.#latest.set(
      id,
      metrics.filter(({ name }) => name !== RELOADS),
    );
  }

  /** Adds the cumulative metrics of an ended worker to the total. */
  end(id: number): void {
    // prom-client declares types as numbers but uses strings.
    const cumulative = this.#latest.get(id)?.filter(({ type }) => CUMULATIVE.includes(type as unknown as string));
    this.#latest.delete(id);
    if (!cumulative) return;
    const ended = [...this.#ended, cumulative];
    this.#ended = ended;
    void AggregatorRegistry.aggregate(ended)
      .getMetricsAsJSON()
      .then((sum) => {
        // If another worker has ended in the meantime, its aggregation includes this one.
        if (this.#ended === ended) this.#ended = [sum as ProcessMetrics];
      });
  }

  /** Counts a reload of all workers once. */
  countReload(result: "success" | "failure"): void {
    this.#reloads[result] += 1;
  }

  all(): ProcessMetrics[] {
    const reloads = {
      name: RELOADS,
      help: RELOADS_HELP,
      type: "counter",
      aggregator: "sum",
      values: Object.entries(this.#reloads).map(([result, value]) => ({ value, labels: { result } })),
    };
    return [...this.#latest.values(), ...this.#ended, [reloads] as unknown as ProcessMetrics];
  }
}
