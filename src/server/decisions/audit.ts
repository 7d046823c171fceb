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

/** An audit log of a server. */
export interface Audit {
  /** Records a decision before the client is told. */
  listener: DecisionListener;
  /** Writes what waits. */
  close(): Promise<void>;
}

/** What an audit log is made with. */
export interface AuditOptions {
  settings: AuditSettings;
  config: Config;
  /** Where lines of `to: stdout` go. */
  stream: LogStream;
  logs: AuditPlaces;
  /** Is told why a decision was not recorded. */
  onLost(error: Error): void;
}

/** An audit log that is used together with others. */
export interface UsedLog {
  /** Records a decision; see {@link AuditLog.record}. */
  record(record: object): Promise<void>;
  /** Must be called when the log is not used any more. */
  leave(): Promise<void>;
}

/** Gives out audit logs. */
export interface AuditPlaces {
  /** The key of the hashes of texts where the environment has none. */
  readonly randomKey: Uint8Array;
  /**
   * The log of these settings.
   *
   * @param name what the service is called.
   * @param stream where lines of `to: stdout` go.
   */
  use(settings: AuditSettings, name: string, stream: LogStream): Promise<UsedLog>;
}

/** The audit logs of a process. Whoever records to the same place shares one, so that its chain stays one. */
export class AuditLogs implements AuditPlaces {
  readonly randomKey = randomTextKey();
  readonly #open = new Map<string, { log: AuditLog; users: number }>();

  /** The log for a place, made by whoever comes first. */
  async use(settings: AuditSettings, name: string, stream: LogStream): Promise<UsedLog> {
    const { to, file = "", endpoint = "" } = settings;
    const place = JSON.stringify([to, file && resolve(file), endpoint]);
    const make = async () =>
      new AuditLog({ sink: await sinkOf(settings, stream, name), key: readAuditKey(process.env)?.chain });
    const made = this.#open.has(place) ? undefined : { log: await make(), users: 0 };
    // Somebody else may have made it in the meantime.
    const known = this.#open.get(place) ?? (made as { log: AuditLog; users: number });
    this.#open.set(place, known);
    known.users += 1;
    const leave = async () => {
      known.users -= 1;
      if (known.users > 0) return;
      this.#open.delete(place);
      await known.log.close();
    };
    return { record: (record) => known.log.record(record), leave };
  }
}

/** Makes the audit log of a server. Its keys come from the environment. */
export async function makeAudit({ settings, config, stream, logs, onLost }: AuditOptions): Promise<Audit> {
  const keys = readAuditKey(process.env);
  const { onFailure } = settings;
  const log = await logs.use(settings, config.app.name, stream);
  const options = {
    config: hashOf(config),
    textKey: keys?.text ?? logs.randomKey,
    credentialOf: ({ credential }: Pick<FastifyRequest, "credential">) => credential?.name ?? null,
  };
  return {
    async listener(decision) {
      try {
        await log.record(recordOf(decision, options));
      } catch (error) {
        onLost((error as Error).cause as Error);
        if (onFailure === "block") throw error;
      }
    },
    close: () => log.leave(),
  };
}

async function sinkOf(
  { to, file, maxSize, keep, endpoint }: AuditSettings,
  stream: LogStream,
  name: string,
): Promise<AuditSink> {
  if (to === "file") return new AuditFile({ file: resolve(file as string), maxSize, keep });
  if (to === "stdout") return streamSink(stream);
  requirePackages("audit.to: otlp", OPENTELEMETRY);
  // The SDK of OpenTelemetry takes time and memory to load.
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

/** A hash of what a configuration says of scans. Secrets are not in it: a short one could be guessed from a hash. */
export function hashOf({ app, inputScanners, outputScanners, conversation, stream, profiles }: Config): string {
  const text = canonicalJson({ app, inputScanners, outputScanners, conversation, stream, profiles });
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
