import { type ExportResult, ExportResultCode, type InstrumentationScope, millisToHrTime } from "@opentelemetry/core";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import type { Resource } from "@opentelemetry/resources";
import type { AuditSink } from "../../audit/audit-log.ts";
import { type Head, headOf, START } from "../../audit/chain.ts";
import { version } from "../../support/version.ts";
import { endpointOptions, PATHS, resourceOf } from "./collector.ts";

type ReadableLogRecord = Parameters<OTLPLogExporter["export"]>[0][number];

/** SeverityNumber of INFO (OpenTelemetry Logs Data Model). */
const INFO = 9;

/** Sends audit records to an OpenTelemetry collector as bodies of log records. Each process starts a new chain. */
export class AuditCollector implements AuditSink {
  readonly #exporter: OTLPLogExporter;
  readonly #resource: Resource;
  readonly #scope: InstrumentationScope = { name: "guard-scan.audit", version };
  #head: Head = START;

  /**
   * @param endpoint the address of the collector. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`.
   * @param name the name of the service.
   */
  constructor(endpoint: string | undefined, name: string) {
    this.#exporter = new OTLPLogExporter(endpointOptions(endpoint, PATHS.logs));
    this.#resource = resourceOf(name);
  }

  async open(): Promise<Head> {
    return this.#head;
  }

  async write(lines: readonly string[]): Promise<void> {
    const now = millisToHrTime(Date.now());
    const records = lines.map(
      (body): ReadableLogRecord => ({
        hrTime: now,
        hrTimeObserved: now,
        severityNumber: INFO,
        severityText: "INFO",
        body,
        eventName: "guard.decision",
        resource: this.#resource,
        instrumentationScope: this.#scope,
        attributes: {},
        droppedAttributesCount: 0,
      }),
    );
    const { code, error } = await new Promise<ExportResult>((resolve) => this.#exporter.export(records, resolve));
    if (code === ExportResultCode.FAILED) throw error ?? new Error("the collector did not accept the records");
    this.#head = headOf(lines.at(-1) as string) as Head;
  }

  async close(): Promise<void> {
    await this.#exporter.shutdown();
  }
}
