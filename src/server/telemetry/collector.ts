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

/** The default paths of the signals (OpenTelemetry Protocol Specification, OTLP/HTTP Request). */
export const PATHS = { traces: "/v1/traces", metrics: "/v1/metrics", logs: "/v1/logs" } as const;

/**
 * Returns the resource attributes of a server: name, version and instance id. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` take
 * precedence.
 */
export function resourceOf(name: string): Resource {
  const own = resourceFromAttributes({ [ATTR_SERVICE_NAME]: name, [ATTR_SERVICE_VERSION]: version });
  const detected = detectResources({ detectors: [serviceInstanceIdDetector, envDetector] });
  return defaultResource().merge(own).merge(detected);
}

/**
 * Returns the exporter options for an endpoint of the configuration. As in llm-guard, an endpoint with a path is used as it is. Without
 * an endpoint the exporter reads the environment (`OTEL_EXPORTER_OTLP_ENDPOINT` and related variables).
 */
export function endpointOptions(endpoint: string | null | undefined, path: string): { url?: string } {
  if (!endpoint) return {};
  const url = new URL(endpoint);
  if (url.pathname === "/") url.pathname = path;
  return { url: url.href };
}

/** The common part of exporters of spans and metrics. */
interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** Makes an exporter report what it takes and what it fails to export. */
export function observeExporter<Items, Known extends Exporter<Items>>(
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
