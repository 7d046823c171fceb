import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { type Admission, SHED_REASONS } from "../../../admission/admission.ts";
import type { Engine } from "../../../models/engine.ts";
import type { Side } from "../../../scanner.ts";
import { type ServiceReport, unscannedReasons } from "../../../service.ts";
import type { CacheUse } from "../../cache/result-cache.ts";
import type { Profile } from "../../profiles.ts";
import type { RedisUse } from "../../redis-link.ts";

/** Counts what the server does. Labels are names of routes and scanners, never anything from a request's content. */
export class Metrics {
  readonly registry = new Registry();
  readonly #scannerSeconds: Histogram;
  readonly #verdicts: Counter;
  readonly #unscanned: Counter;
  readonly #lost: Counter;
  readonly #cached: Counter;
  readonly #redisFailures: Counter;
  readonly #auditLost: Counter;

  constructor(profiles: readonly Profile[], engine: Engine) {
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
    this.#unscanned = new Counter({
      name: "guard_unscanned_total",
      help: "Scans that did not look at everything, by reason.",
      labelNames: ["reason"],
      registers,
    });
    this.#lost = new Counter({
      name: "guard_telemetry_lost_total",
      help: "Spans and exports of metrics that did not reach the collector, by reason.",
      labelNames: ["signal", "reason"],
      registers,
    });
    this.#cached = new Counter({
      name: "guard_cache_requests_total",
      help: "Scans by what the cache had to do with them.",
      labelNames: ["result"],
      registers,
    });
    this.#redisFailures = new Counter({
      name: "guard_redis_failures_total",
      help: "Requests that had to do without Redis, by what they needed it for.",
      labelNames: ["use"],
      registers,
    });
    this.#auditLost = new Counter({
      name: "guard_audit_lost_total",
      help: "Decisions that could not be recorded in the audit log.",
      registers,
    });
    const failedSelfTests = new Counter({
      name: "guard_self_test_failures_total",
      help: "Self-tests in which a model or a rule did not say what it should of a known text.",
      registers,
    });
    for (const { service } of profiles) service.onFailedSelfTest(() => failedSelfTests.inc());
    new Gauge({
      name: "guard_scans_running",
      help: "Scans that have not ended yet.",
      registers,
      collect() {
        this.set(profiles.reduce((sum, { service }) => sum + service.running, 0));
      },
    });
    // All profiles have one admission.
    const [main] = profiles;
    if (main) this.#countAdmission(main.service.admission);
    this.#countEngine(engine);
  }

  /** Counts what becomes of scans before they run. */
  #countAdmission(admission: Admission): void {
    const registers = [this.registry];
    new Gauge({
      name: "guard_scans_waiting",
      help: "Scans that wait for their turn.",
      registers,
      collect() {
        this.set(admission.waiting);
      },
    });
    new Gauge({
      name: "guard_expected_wait_seconds",
      help: "Time after which all scans that wait or run are expected to have ended.",
      registers,
      collect() {
        this.set(admission.expectedWait);
      },
    });
    const waited = new Histogram({
      name: "guard_scan_wait_seconds",
      help: "Time that a scan waited for its turn.",
      buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30],
      registers,
    });
    const shed = new Counter({
      name: "guard_shed_total",
      help: "Scans that were refused because there was too much to do, by reason.",
      labelNames: ["reason"],
      registers,
    });
    for (const reason of SHED_REASONS) shed.inc({ reason }, 0);
    admission.listen({ waited: (seconds) => waited.observe(seconds), shed: (reason) => shed.inc({ reason }) });
  }

  /** Counts what the models of an engine do. */
  #countEngine(engine: Engine): void {
    const registers = [this.registry];
    const seconds = (name: string, help: string) =>
      new Histogram({
        ...{ name, help, registers, labelNames: ["model"] },
        buckets: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      });
    const queued = seconds(
      "guard_queue_seconds",
      "Time that a text waited for threads before and between runs of a model.",
    );
    const tokenized = seconds("guard_tokenization_seconds", "Time that the tokens of a text took to make.");
    const inferred = seconds("guard_inference_seconds", "Time that a text was in runs of a model.");
    engine.onAnswer((model, timings) => {
      queued.observe({ model }, timings.queued / 1000);
      tokenized.observe({ model }, timings.tokenized / 1000);
      inferred.observe({ model }, timings.inferred / 1000);
    });
    new Gauge({
      name: "guard_queue_size",
      help: "Texts that wait for a model or run.",
      labelNames: ["model"],
      registers,
      collect() {
        this.reset();
        for (const [model, pending] of Object.entries(engine.pending)) this.set({ model }, pending);
      },
    });
    new Gauge({
      name: "guard_rule_tasks",
      help: "Work with rules on texts that is not done at once, by whether it waits for a thread or runs.",
      labelNames: ["state"],
      registers,
      collect() {
        const { waiting, running } = engine.ruleTasks;
        this.set({ state: "waiting" }, waiting);
        this.set({ state: "running" }, running);
      },
    });
  }

  /**
   * Counts the results of a scan of texts of one side. Each document of a scan of documents counts as a text.
   *
   * @param use what the cache had to do with it. Scanners that did not run for this request took no time for it.
   */
  countScan(source: Side, report: ServiceReport, use?: CacheUse): void {
    if (use) this.#cached.inc({ result: use });
    for (const { resultsValid, timing } of report.documents ?? [report]) {
      for (const [scanner, valid] of Object.entries(resultsValid)) {
        this.#verdicts.inc({ source, scanner, valid: String(valid) });
        if (use === "hit" || use === "shared") continue;
        this.#scannerSeconds.observe({ source, scanner }, (timing[scanner] ?? 0) / 1000);
      }
    }
    for (const reason of unscannedReasons(report)) this.#unscanned.inc({ reason });
  }

  /** Counts what was not exported: spans, or exports of all metrics. */
  countLost(signal: string, reason: string, count: number): void {
    this.#lost.inc({ signal, reason }, count);
  }

  /** Counts decisions that could not be recorded. */
  countAuditLost(count: number): void {
    this.#auditLost.inc(count);
  }

  /** Counts a request that needed Redis for something and had to do without. */
  countRedisFailure(use: RedisUse): void {
    this.#redisFailures.inc({ use });
  }
}
