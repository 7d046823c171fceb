import { Counter, type Registry } from "prom-client";
import type { Side } from "../../scan/scanner.ts";
import { CHANGES, type Difference } from "../../service/comparison.ts";
import { SHADOW_RESULTS, type ShadowResult } from "./results.ts";

const METRICS = new WeakMap<Registry, ShadowMetrics>();

export class ShadowMetrics {
  readonly #scans: Counter;
  readonly #changes: Counter;
  readonly #differences: Counter;

  private constructor(registry: Registry) {
    const registers = [registry];
    this.#scans = new Counter({
      name: "guard_shadow_scans_total",
      help: "Scans that were sampled for the shadow, by result.",
      labelNames: ["result"],
      registers,
    });
    this.#changes = new Counter({
      name: "guard_shadow_changes_total",
      help: "Scans whose verdict the shadow would change, by change.",
      labelNames: ["source", "change"],
      registers,
    });
    this.#differences = new Counter({
      name: "guard_shadow_differences_total",
      help: "Verdicts of scanners that differ in the shadow, by change.",
      labelNames: ["source", "scanner", "change"],
      registers,
    });
    for (const result of SHADOW_RESULTS) this.#scans.inc({ result }, 0);
    for (const source of ["input", "output"]) {
      for (const change of CHANGES) this.#changes.inc({ source, change }, 0);
    }
  }

  /** Servers with the same registry share the metrics. */
  static in(registry: Registry): ShadowMetrics {
    const metrics = METRICS.get(registry) ?? new ShadowMetrics(registry);
    METRICS.set(registry, metrics);
    return metrics;
  }

  countScan(result: ShadowResult): void {
    this.#scans.inc({ result });
  }

  countDifference(source: Side, { change, scanners }: Difference): void {
    if (change) this.#changes.inc({ source, change });
    for (const [scanner, change] of scanners) this.#differences.inc({ source, scanner, change });
  }
}
