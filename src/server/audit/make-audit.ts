import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { FastifyRequest } from "fastify";
import { AuditFile } from "../../audit/audit-file.ts";
import { AuditLog, type AuditSink } from "../../audit/audit-log.ts";
import { type Head, headOf, START } from "../../audit/chain.ts";
import { randomTextKey, readAuditKey } from "../../audit/keys.ts";
import type { AuditSettings, Config } from "../../config/index.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import type { DecisionListener } from "../decisions.ts";
import type { LogStream } from "../log.ts";
import { recordOf } from "./record.ts";

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
  onLost(count: number, error: Error): void;
}

/** Makes the audit log of a server. Its keys come from the environment. */
export async function makeAudit({ settings, config, stream, onLost }: AuditOptions): Promise<Audit> {
  const keys = readAuditKey(process.env);
  const { onFailure } = settings;
  const log = new AuditLog({
    sink: await sinkOf(settings, stream, config.app.name),
    key: keys?.chain,
    onFailure,
    onLost,
  });
  const options = {
    config: hashOf(config),
    textKey: keys?.text ?? randomTextKey(),
    credentialOf: ({ credential }: Pick<FastifyRequest, "credential">) => credential?.name ?? null,
  };
  return {
    listener: (decision) => log.record(recordOf(decision, options)),
    close: () => log.close(),
  };
}

async function sinkOf(
  { to, file, maxSize, keep, endpoint }: AuditSettings,
  stream: LogStream,
  name: string,
): Promise<AuditSink> {
  if (to === "file") return new AuditFile({ file: resolve(file as string), maxSize, keep });
  if (to === "stdout") return streamSink(stream);
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
function hashOf({ app, inputScanners, outputScanners, conversation, stream, profiles }: Config): string {
  const text = canonicalJson({ app, inputScanners, outputScanners, conversation, stream, profiles });
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
