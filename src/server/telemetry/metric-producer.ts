import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { hrTime, millisToHrTime } from "@opentelemetry/core";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { Registry } from "prom-client";
import { version } from "../../support/version.ts";
import type { ServerMetrics } from "../process/server-metrics.ts";

type Known = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];
type Value = Known["values"][number] & { metricName?: string };
type Histogram = Extract<MetricData, { dataPointType: DataPointType.HISTOGRAM }>["dataPoints"][number]["value"];

/** From when to when values were counted. */
interface Period {
  startTime: HrTime;
  endTime: HrTime;
}

/**
 * Hands the metrics of a Prometheus registry to the SDK, which exports them. So each metric is counted in one place, whichever way
 * it leaves, and has the same name and labels. Sums count from the start of the server (cumulative temporality), as in Prometheus.
 *
 * @param startedAt when counting began, in milliseconds since 1970.
 */
export function producerOf({ registry, startedAt }: Pick<ServerMetrics, "registry" | "startedAt">): MetricProducer {
  const startTime = millisToHrTime(startedAt);
  return {
    async collect() {
      const known = await registry.getMetricsAsJSON();
      const period = { startTime, endTime: hrTime() };
      const metrics = known.filter(({ values }) => values.length > 0).map((metric) => dataOf(metric, period));
      const scopeMetrics = [{ scope: { name: "guard", version }, metrics }];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

function dataOf({ name, help, type, values }: Known, period: Period): MetricData {
  const base = {
    descriptor: {
      name,
      description: help,
      // What is no time has no unit here: a unit of 1 would make some collectors add a suffix to the name.
      unit: name.endsWith("_seconds") ? "s" : "",
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // prom-client declares the types as numbers, and has them as words.
  const kind = type as unknown as string;
  if (kind === "histogram") {
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(values, name, period) };
  }
  const dataPoints = values.map(({ labels, value }) => ({ ...period, attributes: attributesOf(labels), value }));
  if (kind === "gauge") return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

/**
 * Puts the values of a histogram together again. The registry has one value for each bucket, which counts what is below its limit
 * `le`, smaller buckets included; OpenTelemetry counts each bucket alone.
 */
function histograms(values: readonly Value[], name: string, period: Period): DataPoint<Histogram>[] {
  const byLabels = new Map<string, DataPoint<Histogram>>();
  for (const { labels, value, metricName } of values) {
    const { le, ...others } = labels;
    const attributes = attributesOf(others);
    const key = JSON.stringify(attributes);
    const point = byLabels.get(key) ?? {
      ...period,
      attributes,
      value: { buckets: { boundaries: [], counts: [] }, sum: 0, count: 0 },
    };
    byLabels.set(key, point);
    const { buckets } = point.value;
    if (metricName === `${name}_sum`) point.value.sum = value;
    else if (metricName === `${name}_count`) point.value.count = value;
    else {
      const below = buckets.counts.reduce((sum, count) => sum + count, 0);
      buckets.counts.push(value - below);
      if (le !== "+Inf") buckets.boundaries.push(Number(le));
    }
  }
  return [...byLabels.values()];
}

function attributesOf(labels: Partial<Record<string, string | number>>): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}
