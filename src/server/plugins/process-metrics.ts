import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { type Aggregator, Counter, Gauge, type Registry } from "prom-client";
import { version } from "../../support/version.ts";

/** Interval of event loop samples. Shorter delays are not measured. */
const RESOLUTION_MS = 10;

/**
 * Measures processor time, memory and event loop delay of the process.
 *
 * The names are those of prom-client and other Prometheus clients, so that existing dashboards work. `collectDefaultMetrics` of
 * prom-client never stops, and a closed server must leave nothing behind.
 */
export const processMetrics = fp(async (app: FastifyInstance, { registry }: { registry: Registry }) => {
  // During a reload two servers share a registry.
  const measured = MEASURED.get(registry) ?? { delay: measureProcess(registry), servers: 0 };
  MEASURED.set(registry, measured);
  if (measured.servers++ === 0) measured.delay.enable();
  app.addHook("onClose", async () => {
    if (--measured.servers === 0) measured.delay.disable();
  });
});

const MEASURED = new WeakMap<Registry, { delay: IntervalHistogram; servers: number }>();

function measureProcess(registry: Registry): IntervalHistogram {
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number, aggregator: Aggregator = "sum") =>
    new Gauge({
      ...{ name, help, registers, aggregator },
      collect() {
        this.set(value());
      },
    });
  new Gauge({
    ...{
      name: "guard_build_info",
      help: "Always 1, with the versions as labels.",
      registers,
      aggregator: "max" as const,
    },
    labelNames: ["version", "node"],
  }).set({ version, node: process.version }, 1);
  const startedAt = Math.round(performance.timeOrigin / 1000);
  gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", () => startedAt, "min");
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  // Without a limit Node.js returns 0 or a huge number.
  const limit = process.constrainedMemory();
  if (limit > 0 && limit < 2 ** 53) {
    gauge("guard_memory_limit_bytes", "Memory limit of the container.", () => limit, "max");
  }
  new Counter({
    ...{ name: "process_cpu_seconds_total", help: "Processor time of the process.", registers },
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });

  return measureEventLoop(registers);
}

function measureEventLoop(registers: Registry[]): IntervalHistogram {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  // The histogram is in nanoseconds and includes the interval of the timer.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) || 0;
  new Gauge({
    ...{ name: "nodejs_eventloop_lag_p99_seconds", registers, aggregator: "max" as const },
    help: "Event loop delay, 99th percentile since the last scrape.",
    collect() {
      this.set(delay.count === 0 ? 0 : seconds(delay.percentile(99)));
    },
  });
  // Gauges are collected in the order of their creation, so the last one may reset the histogram.
  new Gauge({
    ...{ name: "nodejs_eventloop_lag_max_seconds", registers, aggregator: "max" as const },
    help: "Longest event loop delay since the last scrape.",
    collect() {
      this.set(delay.count === 0 ? 0 : seconds(delay.max));
      delay.reset();
    },
  });
  return delay;
}
