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

type RegistryMetric = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];
type RegistryValue = RegistryMetric["values"][number] & { metricName?: string };
type Histogram = Extract<MetricData, { dataPointType: DataPointType.HISTOGRAM }>["dataPoints"][number]["value"];

/** The time range of cumulative values. */
interface Period {
  startTime: HrTime;
  endTime: HrTime;
}

/**
 * Provides the metrics of a Prometheus registry to the SDK, so that they have the same names, labels and values in both. Sums count from
 * the start of the server (cumulative temporality), as in Prometheus.
 */
export function producerOf({ registry, startedAt }: Pick<ServerMetrics, "registry" | "startedAt">): MetricProducer {
  const startTime = millisToHrTime(startedAt);
  return {
    async collect() {
      const registered = await registry.getMetricsAsJSON();
      const period = { startTime, endTime: hrTime() };
      const metrics = registered.filter(({ values }) => values.length > 0).map((metric) => dataOf(metric, period));
      const scopeMetrics = [{ scope: { name: "guard", version }, metrics }];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

function dataOf({ name, help, type, values }: RegistryMetric, period: Period): MetricData {
  const base = {
    descriptor: {
      name,
      description: help,
      // Only times have a unit: with a unit of 1 some collectors add a suffix to the name.
      unit: name.endsWith("_seconds") ? "s" : "",
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // prom-client declares types as numbers but uses strings.
  const kind = type as unknown as string;
  if (kind === "histogram") {
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(values, name, period) };
  }
  const dataPoints = values.map(({ labels, value }) => ({ ...period, attributes: attributesOf(labels), value }));
  if (kind === "gauge") return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

/** Converts histograms. The buckets of the registry are cumulative (values up to the limit `le`), those of OpenTelemetry are not. */
function histograms(values: readonly RegistryValue[], name: string, period: Period): DataPoint<Histogram>[] {
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
