import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from "@opentelemetry/resources";
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions";
import { version } from "../../support/version.ts";

/** The paths at which a collector takes the signals (OpenTelemetry Protocol Specification, OTLP/HTTP Request). */
export const PATHS = { traces: "/v1/traces", metrics: "/v1/metrics", logs: "/v1/logs" } as const;

/**
 * What a server says of itself: its name and version, and an id that tells it from other instances. `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES` come before these.
 */
export function resourceOf(name: string): Resource {
  const own = resourceFromAttributes({ [ATTR_SERVICE_NAME]: name, [ATTR_SERVICE_VERSION]: version });
  const detected = detectResources({ detectors: [serviceInstanceIdDetector, envDetector] });
  return defaultResource().merge(own).merge(detected);
}

/**
 * Returns the options of an exporter for an address of the configuration. As in llm-guard, an address with a path is taken as it
 * is. Without an address the exporter asks the environment (`OTEL_EXPORTER_OTLP_ENDPOINT` and its relatives).
 */
export function addressOf(endpoint: string | null | undefined, path: string): { url?: string } {
  if (!endpoint) return {};
  const url = new URL(endpoint);
  if (url.pathname === "/") url.pathname = path;
  return { url: url.href };
}

/** The part of an exporter that is the same for spans and metrics. */
interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** Makes an exporter tell when it takes something, and when it could not export it. */
export function watched<Items, Known extends Exporter<Items>>(
  exporter: Known & Exporter<Items>,
  { onTaken, onFailed }: { onTaken?(items: Items): void; onFailed(items: Items, error?: Error): void },
): Known {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) => {
    onTaken?.(items);
    send(items, (result) => {
      if (result.code === ExportResultCode.FAILED) onFailed(items, result.error);
      done(result);
    });
  };
  return exporter;
}
