import { Counter, Gauge, type Registry } from "prom-client";
import type { ReviewEvent } from "./reviews.ts";

/** Counts reviews. It outlives reloads. */
export class ReviewMetrics {
  readonly #events: Counter;
  #countPending: () => Promise<number | undefined> = async () => undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#events = new Counter({
      name: "guard_reviews_total",
      help: "Texts in review by scanner: requested, approved, rejected, or dropped because too many were pending.",
      labelNames: ["scanner", "decision"],
      registers,
    });
    const countPending = () => this.#countPending();
    new Gauge({
      name: "guard_reviews_pending",
      // All processes count the same texts.
      aggregator: "max",
      help: "Texts that wait for the decision of a person.",
      registers,
      async collect() {
        const pending = await countPending();
        if (pending !== undefined) this.set(pending);
      },
    });
  }

  count(scanner: string, decision: ReviewEvent, number = 1): void {
    this.#events.inc({ scanner, decision }, number);
  }

  /** @param countPending counts the pending reviews of the configuration that is in use from now on. */
  watch(countPending: () => Promise<number | undefined>): void {
    this.#countPending = countPending;
  }
}
