import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Engine } from "../../../models/engine.ts";
import type { Side } from "../../../scan/scanner.ts";
import { SHED_REASONS } from "../../../service/admission/admission.ts";
import { type ServiceReport, unscannedReasons } from "../../../service/service.ts";
import type { CacheUse } from "../../cache/result-cache.ts";
import type { Profile } from "../../profiles.ts";
import type { RedisUse } from "../../redis-link.ts";

/** The counter of reloads. Several processes reload together, so that it is not added up. */
export const RELOADS = "guard_reloads_total";

/** What metrics are taken of. */
interface Watched {
  profiles: readonly Profile[];
  engine: Engine;
}

/**
 * Counts what the server does. Labels are names of routes and scanners, never anything from a request's content. A server that reloads its
 * configuration goes on counting: for a while it has the scanners of two configurations, which are counted together.
 */
export class Metrics {
  readonly registry = new Registry();
  /** When counting began, in milliseconds since 1970. */
  readonly startedAt = Date.now();
  readonly #watched = new Set<Watched>();
  readonly #scannerSeconds: Histogram;
  readonly #verdicts: Counter;
  readonly #unscanned: Counter;
  readonly #lost: Counter;
  readonly #cached: Counter;
  readonly #redisFailures: Counter;
  readonly #auditLost: Counter;
  readonly #failedSelfTests: Counter;
  readonly #waited: Histogram;
  readonly #shed: Counter;
  readonly #queued: Histogram;
  readonly #tokenized: Histogram;
  readonly #inferred: Histogram;
  readonly #reloads: Counter;
  readonly #configs: Gauge;
  readonly #reloadedAt: Gauge;

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
    this.#failedSelfTests = new Counter({
      name: "guard_self_test_failures_total",
      help: "Self-tests in which a model or a rule did not say what it should of a known text.",
      registers,
    });
    this.#reloads = new Counter({
      name: RELOADS,
      help: "Reloads of the configuration while the server ran, by result.",
      labelNames: ["result"],
      registers,
    });
    // The first failure would show no increase of a series that was not there.
    for (const result of ["success", "failure"]) this.#reloads.inc({ result }, 0);
    this.#configs = new Gauge({
      name: "guard_config_info",
      aggregator: "max",
      help: "The configuration that is served: 1 for its hash, which records of the audit log have as well.",
      labelNames: ["hash"],
      registers,
    });
    this.#reloadedAt = new Gauge({
      name: "guard_config_last_reload_success_timestamp_seconds",
      aggregator: "max",
      help: "When the configuration that is served was put to use, in seconds since 1970.",
      registers,
    });
    const watched = this.#watched;
    new Gauge({
      name: "guard_scans_running",
      help: "Scans that have not ended yet.",
      registers,
      collect() {
        const services = [...watched].flatMap(({ profiles }) => profiles.map(({ service }) => service));
        this.set(services.reduce((sum, service) => sum + service.running, 0));
      },
    });
    // All profiles have one admission.
    const admissions = () => [...watched].flatMap(({ profiles }) => profiles[0]?.service.admission ?? []);
    new Gauge({
      name: "guard_scans_waiting",
      help: "Scans that wait for their turn.",
      registers,
      collect() {
        this.set(admissions().reduce((sum, { waiting }) => sum + waiting, 0));
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
      help: "Scans that were refused because there was too much to do, by reason.",
      labelNames: ["reason"],
      registers,
    });
    for (const reason of SHED_REASONS) this.#shed.inc({ reason }, 0);
    const seconds = (name: string, help: string) =>
      new Histogram({
        ...{ name, help, registers, labelNames: ["model"] },
        buckets: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      });
    this.#queued = seconds(
      "guard_queue_seconds",
      "Time that a text waited for threads before and between runs of a model.",
    );
    this.#tokenized = seconds("guard_tokenization_seconds", "Time that the tokens of a text took to make.");
    this.#inferred = seconds("guard_inference_seconds", "Time that a text was in runs of a model.");
    new Gauge({
      name: "guard_queue_size",
      help: "Texts that wait for a model or run.",
      labelNames: ["model"],
      registers,
      collect() {
        this.reset();
        for (const { engine } of watched) {
          for (const [model, pending] of Object.entries(engine.pending)) this.inc({ model }, pending);
        }
      },
    });
    new Gauge({
      name: "guard_rule_tasks",
      help: "Work with rules on texts that is not done at once, by whether it waits for a thread or runs.",
      labelNames: ["state"],
      registers,
      collect() {
        // They are those of the process, whichever engine is asked.
        const { waiting, running } = [...watched].at(-1)?.engine.ruleTasks ?? { waiting: 0, running: 0 };
        this.set({ state: "waiting" }, waiting);
        this.set({ state: "running" }, running);
      },
    });
  }

  /**
   * Counts what profiles scan, and what the models of their engine do.
   *
   * @returns what ends that.
   */
  watch(profiles: readonly Profile[], engine: Engine): () => void {
    const watched = { profiles, engine };
    this.#watched.add(watched);
    for (const { service } of profiles) service.onFailedSelfTest(() => this.#failedSelfTests.inc());
    profiles[0]?.service.admission.listen({
      waited: (seconds) => this.#waited.observe(seconds),
      shed: (reason) => this.#shed.inc({ reason }),
    });
    engine.onAnswer((model, timings) => {
      this.#queued.observe({ model }, timings.queued / 1000);
      this.#tokenized.observe({ model }, timings.tokenized / 1000);
      this.#inferred.observe({ model }, timings.inferred / 1000);
    });
    return () => void this.#watched.delete(watched);
  }

  /** Counts an attempt to reload the configuration. */
  countReload(result: "success" | "failure"): void {
    this.#reloads.inc({ result });
  }

  /** Tells which configuration is served from now on, by its hash. */
  showConfig(hash: string): void {
    this.#configs.reset();
    this.#configs.set({ hash }, 1);
    this.#reloadedAt.setToCurrentTime();
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
