import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { type Aggregator, Counter, Gauge, type Registry } from "prom-client";
import { version } from "../../support/version.ts";

/** Milliseconds between two looks at the event loop. What holds it for less is not seen. */
const RESOLUTION = 10;

/**
 * Counts what the process uses: processor time, memory, and how long the event loop was held.
 *
 * The names are those that prom-client and other clients of Prometheus use, so that ready dashboards show them. Its own
 * `collectDefaultMetrics` watches the process until it ends; a server that closes must leave nothing behind.
 */
export const processMetrics = fp(async (app: FastifyInstance, { registry }: { registry: Registry }) => {
  // Servers with the same registry follow one another, and for a while there are two of them.
  const watched = WATCHED.get(registry) ?? { delay: watch(registry), servers: 0 };
  WATCHED.set(registry, watched);
  if (watched.servers++ === 0) watched.delay.enable();
  app.addHook("onClose", async () => {
    if (--watched.servers === 0) watched.delay.disable();
  });
});

const WATCHED = new WeakMap<Registry, { delay: IntervalHistogram; servers: number }>();

function watch(registry: Registry): IntervalHistogram {
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
      help: "Always 1; the labels say which version runs.",
      registers,
      aggregator: "max" as const,
    },
    labelNames: ["version", "node"],
  }).set({ version, node: process.version }, 1);
  const startedAt = Math.round(performance.timeOrigin / 1000);
  gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", () => startedAt, "min");
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  // Node.js says 0, or more than any machine has, where nothing limits the memory.
  const limit = process.constrainedMemory();
  if (limit > 0 && limit < 2 ** 53) {
    gauge("guard_memory_limit_bytes", "Memory that the container of the process may have.", () => limit, "max");
  }
  new Counter({
    ...{ name: "process_cpu_seconds_total", help: "Processor time of the process.", registers },
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  // Nanoseconds, of which the timer itself takes its resolution.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1000) || 0;
  new Gauge({
    ...{ name: "nodejs_eventloop_lag_p99_seconds", registers, aggregator: "max" as const },
    help: "How long the event loop was held, 99th percentile since metrics were last asked for.",
    collect() {
      this.set(delay.count === 0 ? 0 : seconds(delay.percentile(99)));
    },
  });
  // Gauges are collected in the order in which they were made, so that this one may start anew.
  new Gauge({
    ...{ name: "nodejs_eventloop_lag_max_seconds", registers, aggregator: "max" as const },
    help: "How long the event loop was held at most since metrics were last asked for.",
    collect() {
      this.set(delay.count === 0 ? 0 : seconds(delay.max));
      delay.reset();
    },
  });
  return delay;
}
