import { Counter, Gauge, type Registry } from "prom-client";
import { ScanMetrics } from "../../http-server/metrics/scan-metrics.ts";
import type { Decision } from "../decisions/decisions.ts";
import type { RedisUse } from "../redis/redis-use.ts";
import { ReviewMetrics } from "../reviews/review-metrics.ts";

/** The counter of reloads. All workers reload together, so their counts must not be added up. */
export const RELOADS = "guard_reloads_total";
export const RELOADS_HELP = "Reloads of the configuration while the server ran, by result.";

/** Metrics of a process. They outlive reloads. Labels are never content of a request. */
export class ServerMetrics {
  readonly scans = new ScanMetrics();
  readonly registry: Registry = this.scans.registry;
  readonly reviews = new ReviewMetrics(this.registry);
  /** When counting started, in milliseconds since 1970. */
  readonly startedAt = Date.now();
  readonly #reloads: Counter;
  readonly #configs: Gauge;
  readonly #reloadedAt: Gauge;
  readonly #cached: Counter;
  readonly #redisFailures: Counter;
  #redisStates: () => [RedisUse, boolean][] = () => [];
  readonly #auditLost: Counter;
  readonly #telemetryLost: Counter;

  constructor() {
    const registers = [this.registry];
    this.#reloads = new Counter({ name: RELOADS, help: RELOADS_HELP, labelNames: ["result"], registers });
    // Prometheus sees no increase when a series appears with its first failure.
    for (const result of ["success", "failure"]) this.#reloads.inc({ result }, 0);
    this.#configs = new Gauge({
      name: "guard_config_info",
      aggregator: "max",
      help: "The configuration in use: 1 for its hash, which is also in the records of the audit log.",
      labelNames: ["hash"],
      registers,
    });
    this.#reloadedAt = new Gauge({
      name: "guard_config_last_reload_success_timestamp_seconds",
      aggregator: "max",
      help: "When the configuration in use was loaded, in seconds since 1970.",
      registers,
    });
    this.#cached = new Counter({
      name: "guard_cache_requests_total",
      help: "Scans by how the cache was used.",
      labelNames: ["result"],
      registers,
    });
    this.#redisFailures = new Counter({
      name: "guard_redis_failures_total",
      help: "Requests that went on without Redis, by what they needed it for.",
      labelNames: ["use"],
      registers,
    });
    const readStates = () => this.#redisStates();
    new Gauge({
      name: "guard_redis_up",
      aggregator: "min",
      help: "Whether Redis responds, by what it is needed for. In a cluster: whether all nodes that were asked do.",
      labelNames: ["use"],
      registers,
      collect() {
        this.reset();
        for (const [use, isUp] of readStates()) this.set({ use }, isUp ? 1 : 0);
      },
    });
    this.#auditLost = new Counter({
      name: "guard_audit_lost_total",
      help: "Decisions that could not be recorded in the audit log.",
      registers,
    });
    this.#telemetryLost = new Counter({
      name: "guard_telemetry_lost_total",
      help: "Spans and metric exports that did not reach the collector, by reason.",
      labelNames: ["signal", "reason"],
      registers,
    });
  }

  countReload(result: "success" | "failure"): void {
    this.#reloads.inc({ result });
  }

  /** Shows the hash of the configuration that is in use from now on. */
  showConfig(hash: string): void {
    this.#configs.reset();
    this.#configs.set({ hash }, 1);
    this.#reloadedAt.setToCurrentTime();
  }

  countDecision({ side, report, profile, cache }: Pick<Decision, "side" | "report" | "profile" | "cache">): void {
    if (cache) this.#cached.inc({ result: cache });
    this.scans.countScan(side, report, profile.name, cache === "hit" || cache === "shared");
  }

  /** @param count the number of spans, or of exports of all metrics. */
  countLostTelemetry(signal: string, reason: string, count: number): void {
    this.#telemetryLost.inc({ signal, reason }, count);
  }

  countLostAuditRecord(): void {
    this.#auditLost.inc();
  }

  /** @param states those of the configuration that is in use from now on. */
  watchRedis(states: () => [RedisUse, boolean][]): void {
    this.#redisStates = states;
  }

  countRedisFailure(use: RedisUse): void {
    this.#redisFailures.inc({ use });
  }
}
