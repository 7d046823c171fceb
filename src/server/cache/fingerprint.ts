import { createHash, randomUUID } from "node:crypto";
import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../config/index.ts";
import { serviceOptions } from "../../config/service-options.ts";
import type { Engine } from "../../models/engine.ts";
import { embeddedFolder } from "../../models/model-files.ts";
import { pluginOrigin } from "../../plugins/load.ts";
import { isDefinedScanner } from "../../scanners/definition.ts";
import { isRecord } from "../../support/is-record.ts";
import { version } from "../../support/version.ts";

/**
 * A text that is the same for servers that give the same results: a hash of the version of guard, the scanners and their
 * parameters, the options of scans, the credentials, and the files of models and parameters. What a text cannot tell, such as a
 * function, makes it differ from all others.
 *
 * @param engine the engine of the scanners, whose models are loaded.
 */
export function fingerprintOf(config: Config, engine: Engine): string {
  const { inputScanners, outputScanners, auth, plugins } = config;
  // These decide whether there is a result, not which one.
  const {
    promptTimeout: _,
    outputTimeout: __,
    maxScans: ___,
    maxQueueTime: _____,
    lazyLoad: ____,
    ...options
  } = serviceOptions(config);
  const models = engine.folders.filter((folder) => dirname(folder) !== embeddedFolder).map(versionOf);
  const files = [...texts([inputScanners, outputScanners])].flatMap((path) => fileVersion(path) ?? []);
  const { maxWindows } = config.app;
  const all = { version, inputScanners, outputScanners, options, maxWindows, auth, plugins, models, files };
  return createHash("sha256").update(JSON.stringify(all, plainOrUnique)).digest("hex");
}

/** Functions, instances of classes and plugins have no text that tells them apart. */
function plainOrUnique(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  const isPlain = typeof value !== "function" && typeof value !== "symbol" && !isInstance(value) && !isCode(value);
  return isPlain ? value : randomUUID();
}

/** Plugins may be plain objects with functions in them, and refer to themselves. */
function isCode(value: unknown): boolean {
  return isDefinedScanner(value) || pluginOrigin(value) !== undefined;
}

function isInstance(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}

/** All texts in a value, at every depth. */
function* texts(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null && !isInstance(value) && !isCode(value)) {
    for (const item of Object.values(value)) yield* texts(item);
  }
}

/** Which files a folder has. The cache of the hub has a folder for each commit, whose name says all. */
function versionOf(folder: string): unknown {
  const commit = /\b[0-9a-f]{40}\b.*/.exec(folder)?.[0];
  if (commit) return commit;
  return [
    folder,
    // A graph may stand in a folder below that of the tokenizer.
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => fileVersion(join(folder, name))),
  ];
}

/** The size and the time of a file; undefined where there is none. Most parameters are no paths. */
function fileVersion(path: string): unknown[] | undefined {
  if (path === "" || path.length > 4096 || path.includes("\0")) return undefined;
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  return stats?.isFile() ? [basename(path), stats.size, stats.mtimeMs] : undefined;
}
