import type { Config } from "../config/index.ts";
import { MAIN_PROFILE } from "../config/index.ts";
import { LocalGuard } from "../guard/local-guard.ts";
import { MonitoringGuard } from "../guard/monitoring-guard.ts";
import { ScanMetrics } from "../http-server/metrics/scan-metrics.ts";
import { type ConfigSource, startLogLines } from "../http-server/start-log.ts";
import { isEverywhere } from "../scan/mode.ts";
import { createEngine, createService } from "../service/create-service.ts";
import type { ProxyGuard } from "./settings.ts";

/**
 * Creates the guard of a proxy whose scanners run in this process.
 *
 * @throws GuardValidationError with the path of every invalid value.
 */
export async function localGuard(config: Config, source?: ConfigSource): Promise<ProxyGuard> {
  const engine = createEngine(config);
  const service = createService(config, { engine });
  const metrics = new ScanMetrics();
  metrics.watch([service], engine);
  const guard = new LocalGuard(service, {
    onScan: ({ side, report }) => metrics.countScan(side, report, MAIN_PROFILE),
  });
  return {
    guard: isEverywhere(service.mode, "monitor") ? new MonitoringGuard(guard) : guard,
    registry: metrics.registry,
    load: () => service.load(),
    async ready() {
      if (service.notReady) throw service.notReady;
    },
    async close() {
      await guard.close();
      await engine.close();
    },
    warnings: warningsOf(config),
    logLines: startLogLines(source, new Map([[MAIN_PROFILE, service]]), engine),
  };
}

/** Returns warnings about settings that have no effect on a proxy, and about empty lists of scanners. */
function warningsOf({
  rateLimit,
  reviews,
  cache,
  profiles,
  dialects,
  tracing,
  metrics,
  inputScanners,
  outputScanners,
}: Config): string[] {
  const warnings: [applies: boolean, warning: string][] = [
    [rateLimit.enabled, "rate_limit: has no effect on a proxy"],
    [reviews.redis !== undefined, "reviews: have no effect on a proxy, which keeps none"],
    [cache?.enabled === true, "cache: has no effect on a proxy"],
    [
      Object.keys(profiles).length > 0,
      "profiles: have no effect on a proxy, which uses the scanners of the main profile",
    ],
    [dialects.length > 0, "dialects: have no effect on a proxy"],
    [tracing.exporter !== "none", "tracing: has no effect on a proxy"],
    [metrics.exporter !== "prometheus", "metrics.exporter: has no effect on a proxy, which serves GET /metrics"],
    [inputScanners.length === 0, "no input scanners: every request passes"],
    [outputScanners.length === 0, "no output scanners: every answer passes"],
  ];
  return warnings.filter(([applies]) => applies).map(([, warning]) => warning);
}
