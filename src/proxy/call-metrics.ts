import { Counter, Gauge, type Registry } from "prom-client";
import type { CallRecord } from "./call-record.ts";

/** Counts calls of model APIs. */
export class CallMetrics {
  readonly #calls: Counter;

  /**
   * @param entry the part of the names that says where the calls arrive, such as `proxy`.
   * @param running returns the number of calls that have not ended.
   */
  constructor(registry: Registry, entry: string, running: () => number) {
    const registers = [registry];
    new Gauge({
      name: `guard_${entry}_calls_running`,
      help: "Calls that have not ended yet.",
      registers,
      collect() {
        this.set(running());
      },
    });
    this.#calls = new Counter({
      name: `guard_${entry}_calls_total`,
      help: "Guarded calls by API format and outcome.",
      labelNames: ["call", "outcome"],
      registers,
    });
  }

  /** @param call the name of the API format. */
  count(call: string, { outcome }: Pick<CallRecord, "outcome">): void {
    this.#calls.inc({ call, outcome: outcome ?? "unchecked" });
  }
}
