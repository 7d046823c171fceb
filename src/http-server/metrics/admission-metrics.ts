import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { SHED_REASONS } from "../../service/admission/admission.ts";
import type { ScanService } from "../../service/service.ts";

/** Measures admission control: how many scans run and wait, for how long, and how many are shed. */
export class AdmissionMetrics {
  readonly #waited: Histogram;
  readonly #shed: Counter;

  /** @param groups returns the measured services. Those of one group share one admission control. */
  constructor(registry: Registry, groups: () => readonly (readonly ScanService[])[]) {
    const registers = [registry];
    const admissions = () => groups().flatMap(([service]) => service?.admission ?? []);
    new Gauge({
      name: "guard_scans_running",
      help: "Scans that have not ended yet.",
      registers,
      collect() {
        this.set(
          groups()
            .flat()
            .reduce((sum, { running }) => sum + running, 0),
        );
      },
    });
    new Gauge({
      name: "guard_scans_waiting",
      help: "Scans that wait for their turn.",
      registers,
      collect() {
        this.set(admissions().reduce((sum, { queueSize }) => sum + queueSize, 0));
      },
    });
    new Gauge({
      name: "guard_expected_wait_seconds",
      aggregator: "max",
      help: "Time after which all scans that wait or run are expected to have ended.",
      registers,
      collect() {
        this.set(Math.max(0, ...admissions().map(({ expectedWait }) => expectedWait)));
      },
    });
    this.#waited = new Histogram({
      name: "guard_scan_wait_seconds",
      help: "Time that a scan waited for its turn.",
      buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30],
      registers,
    });
    this.#shed = new Counter({
      name: "guard_shed_total",
      help: "Scans that were refused because the server was overloaded, by reason.",
      labelNames: ["reason"],
      registers,
    });
    for (const reason of SHED_REASONS) this.#shed.inc({ reason }, 0);
  }

  listenTo(admission: ScanService["admission"]): void {
    admission.listen({
      waited: (seconds) => this.#waited.observe(seconds),
      shed: (reason) => this.#shed.inc({ reason }),
    });
  }
}
