import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { FastifyRequest } from "fastify";
import { AuditFile } from "../../audit/audit-file.ts";
import { AuditLog, type AuditSink } from "../../audit/audit-log.ts";
import { type Head, headOf, START } from "../../audit/chain.ts";
import { randomTextKey, readAuditKey } from "../../audit/keys.ts";
import type { AuditSettings, Config } from "../../config/index.ts";
import type { LogStream } from "../../http-server/log.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { OPENTELEMETRY, requirePackages } from "../../support/optional-packages.ts";
import { recordOf } from "./audit-record.ts";
import type { DecisionListener } from "./decisions.ts";

/** The audit log of a server. */
export interface Audit {
  /** Records decisions. */
  listener: DecisionListener;
  /**
   * Records another event, such as a change of the exceptions.
   *
   * @throws GuardError if it could not be recorded and `on_failure` is `block`.
   */
  record(event: Record<string, unknown>): Promise<void>;
  /** Writes pending records. */
  close(): Promise<void>;
}

export interface AuditOptions {
  settings: AuditSettings;
  config: Config;
  /** The destination for `to: stdout`. */
  stream: LogStream;
  logs: AuditLogProvider;
  /** Called if a decision could not be recorded. */
  onLost(error: Error): void;
}

/** A reference to a shared audit log. */
export interface AuditLogHandle {
  /** See {@link AuditLog.record}. */
  record(record: object): Promise<void>;
  /** Closes the log if nothing else uses it. */
  release(): Promise<void>;
}

export interface AuditLogProvider {
  /** The key of the hashes of texts if the environment has none. */
  readonly randomKey: Uint8Array;
  /**
   * Opens the log of these settings.
   *
   * @param stream the destination for `to: stdout`.
   */
  open(settings: AuditSettings, serviceName: string, stream: LogStream): Promise<AuditLogHandle>;
}

/** The audit logs of a process. Settings with the same destination share a log, so that it has one chain. */
export class AuditLogs implements AuditLogProvider {
  readonly randomKey = randomTextKey();
  readonly #open = new Map<string, { log: AuditLog; users: number }>();

  async open(settings: AuditSettings, serviceName: string, stream: LogStream): Promise<AuditLogHandle> {
    const { to, file = "", endpoint = "" } = settings;
    const destination = JSON.stringify([to, file && resolve(file), endpoint]);
    const create = async () =>
      new AuditLog({ sink: await createSink(settings, stream, serviceName), key: readAuditKey(process.env)?.chain });
    const created = this.#open.has(destination) ? undefined : { log: await create(), users: 0 };
    // Another call may have created it during the wait.
    const entry = this.#open.get(destination) ?? (created as { log: AuditLog; users: number });
    this.#open.set(destination, entry);
    entry.users += 1;
    const release = async () => {
      entry.users -= 1;
      if (entry.users > 0) return;
      this.#open.delete(destination);
      await entry.log.close();
    };
    return { record: (record) => entry.log.record(record), release };
  }
}

/** Opens the audit log of a server. Its keys come from the environment. */
export async function openAudit({ settings, config, stream, logs, onLost }: AuditOptions): Promise<Audit> {
  const keys = readAuditKey(process.env);
  const { onFailure } = settings;
  const log = await logs.open(settings, config.app.name, stream);
  const options = {
    config: hashOf(config),
    textKey: keys?.text ?? logs.randomKey,
    credentialOf: ({ credential }: Pick<FastifyRequest, "credential">) => credential?.name ?? null,
  };
  const record = async (event: Record<string, unknown>) => {
    try {
      await log.record(event);
    } catch (error) {
      onLost((error as Error).cause as Error);
      if (onFailure === "block") throw error;
    }
  };
  return {
    record,
    listener: (decision) => record(recordOf(decision, options)),
    close: () => log.release(),
  };
}

async function createSink(
  { to, file, maxSize, keep, endpoint }: AuditSettings,
  stream: LogStream,
  name: string,
): Promise<AuditSink> {
  if (to === "file") return new AuditFile({ file: resolve(file as string), maxSize, keep });
  if (to === "stdout") return streamSink(stream);
  requirePackages("audit.to: otlp", OPENTELEMETRY);
  // The OpenTelemetry SDK is loaded only if it is used.
  const { AuditCollector } = await import("../telemetry/audit-collector.ts");
  return new AuditCollector(endpoint, name);
}

function streamSink(stream: LogStream): AuditSink {
  let head = START;
  return {
    open: async () => head,
    async write(lines) {
      stream.write(`${lines.join("\n")}\n`);
      head = headOf(lines.at(-1) as string) as Head;
    },
    close: async () => {},
  };
}

/** Returns a hash of the settings of scans. It covers no secrets: short ones could be guessed from it. */
export function hashOf({ app, inputScanners, outputScanners, allow, conversation, stream, profiles }: Config): string {
  const text = canonicalJson({ app, inputScanners, outputScanners, allow, conversation, stream, profiles });
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
