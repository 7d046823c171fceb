import { Counter, Histogram, Registry } from "prom-client";
import type { Engine } from "../../models/engine.ts";
import { resultName } from "../../scan/report.ts";
import type { Side } from "../../scan/scanner.ts";
import { unscannedReasons } from "../../service/decision.ts";
import type { ScanService } from "../../service/service.ts";
import type { ServiceReport } from "../../service/service-types.ts";
import { AdmissionMetrics } from "./admission-metrics.ts";
import { EngineMetrics } from "./engine-metrics.ts";

/** The scan services that share one admission control and one engine: those of all profiles. */
interface MeasuredServices {
  services: readonly ScanService[];
  engine: Engine;
}

/**
 * Counts scans and what they wait for. Labels are names of scanners and models, never content of a request. During a reload the services
 * of two configurations are measured together.
 */
export class ScanMetrics {
  readonly registry = new Registry();
  readonly #measured = new Set<MeasuredServices>();
  readonly #admission: AdmissionMetrics;
  readonly #engine: EngineMetrics;
  readonly #scannerSeconds: Histogram;
  readonly #verdicts: Counter;
  readonly #exceptions: Counter;
  readonly #wouldBlock: Counter;
  readonly #wouldMask: Counter;
  readonly #unscanned: Counter;
  readonly #failedSelfTests: Counter;

  constructor() {
    const registers = [this.registry];
    this.#scannerSeconds = new Histogram({
      name: "guard_scanner_duration_seconds",
      help: "Time that a scanner took for a text.",
      labelNames: ["source", "scanner"],
      buckets: [0.0005, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.#verdicts = new Counter({
      name: "guard_scanner_verdicts_total",
      help: "Texts by scanner and whether they passed.",
      labelNames: ["source", "scanner", "valid"],
      registers,
    });
    this.#exceptions = new Counter({
      name: "guard_exceptions_total",
      help: "Checks from which an exception removed findings or the failure, by exception.",
      labelNames: ["source", "scanner", "exception", "valid"],
      registers,
    });
    const monitored = { labelNames: ["source", "scanner", "profile"], registers };
    this.#wouldBlock = new Counter({
      name: "guard_would_block_total",
      help: "Failing checks that only monitor and would have blocked the texts of a scan.",
      ...monitored,
    });
    this.#wouldMask = new Counter({
      name: "guard_would_mask_total",
      help: "Failing checks that only monitor and would have masked the texts of a scan.",
      ...monitored,
    });
    this.#unscanned = new Counter({
      name: "guard_unscanned_total",
      help: "Scans that did not cover the whole text or skipped a scanner, by reason.",
      labelNames: ["reason"],
      registers,
    });
    this.#failedSelfTests = new Counter({
      name: "guard_self_test_failures_total",
      help: "Self-tests in which a model or rule gave a wrong result for a known text.",
      registers,
    });
    this.#admission = new AdmissionMetrics(this.registry, () => [...this.#measured].map(({ services }) => services));
    this.#engine = new EngineMetrics(this.registry, () => [...this.#measured].map(({ engine }) => engine));
  }

  /**
   * Starts to measure services and their engine.
   *
   * @returns a function that stops it.
   */
  watch(services: readonly ScanService[], engine: Engine): () => void {
    const measured = { services, engine };
    this.#measured.add(measured);
    for (const service of services) service.onFailedSelfTest(() => this.#failedSelfTests.inc());
    if (services[0]) this.#admission.listenTo(services[0].admission);
    this.#engine.listenTo(engine);
    return () => void this.#measured.delete(measured);
  }

  /**
   * Counts the results of a scan. Each document of a scan of documents counts as one text.
   *
   * @param profile whose scanners made the report.
   * @param isFromCache whether the report was made for another request, so that its scanner times are counted already.
   */
  countScan(source: Side, report: ServiceReport, profile: string, isFromCache = false): void {
    for (const { resultsValid, timing, checks } of report.documents ?? [report]) {
      for (const { scanner: name, scope, isValid, excepted = [] } of checks) {
        const scanner = resultName({ scanner: name, scope });
        for (const { id } of excepted) {
          this.#exceptions.inc({ source, scanner, exception: id, valid: String(isValid) });
        }
      }
      for (const [scanner, valid] of Object.entries(resultsValid)) {
        this.#verdicts.inc({ source, scanner, valid: String(valid) });
        if (isFromCache) continue;
        this.#scannerSeconds.observe({ source, scanner }, (timing[scanner] ?? 0) / 1000);
      }
    }
    for (const scanner of report.wouldBlock ?? []) this.#wouldBlock.inc({ source, scanner, profile });
    for (const scanner of report.wouldMask ?? []) this.#wouldMask.inc({ source, scanner, profile });
    for (const reason of unscannedReasons(report)) this.#unscanned.inc({ reason });
  }
}
