import { createHash, randomUUID } from "node:crypto";
import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../config/index.ts";
import type { Engine } from "../../models/engine.ts";
import { embeddedFolder } from "../../models/model-files.ts";
import { pluginOrigin } from "../../plugins/load.ts";
import { isDefinedScanner } from "../../scanners/definition.ts";
import { serviceOptions } from "../../service/create-service.ts";
import { isRecord } from "../../support/is-record.ts";
import { version } from "../../support/version.ts";

/**
 * Returns a hash that is equal for servers with the same results. It covers the version of guard, scanners with their parameters, options
 * of scans, credentials, and the files of models and parameters. A value without a canonical text, such as a function, makes it unique.
 *
 * @param engine the engine of the scanners, with its models loaded.
 */
export function fingerprintOf(config: Config, engine: Engine): string {
  const { inputScanners, outputScanners, auth, plugins } = config;
  // These options do not change results, only whether there is one.
  const {
    promptTimeout: _,
    outputTimeout: __,
    maxScans: ___,
    maxQueueTime: _____,
    lazyLoad: ____,
    ...options
  } = serviceOptions(config);
  const models = engine.folders.filter((folder) => dirname(folder) !== embeddedFolder).map(folderVersion);
  const files = [...textsIn([inputScanners, outputScanners])].flatMap((path) => fileVersion(path) ?? []);
  const { maxWindows } = config.app;
  const all = { version, inputScanners, outputScanners, options, maxWindows, auth, plugins, models, files };
  return createHash("sha256").update(JSON.stringify(all, plainOrUnique)).digest("hex");
}

/** Replaces functions, class instances and plugins, which have no text that identifies them. */
function plainOrUnique(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  const isPlain = typeof value !== "function" && typeof value !== "symbol" && !isInstance(value) && !isCode(value);
  return isPlain ? value : randomUUID();
}

/** Plugins may be plain objects with functions and cycles. */
function isCode(value: unknown): boolean {
  return isDefinedScanner(value) || pluginOrigin(value) !== undefined;
}

function isInstance(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}

/** Yields all strings in a value, at any depth. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null && !isInstance(value) && !isCode(value)) {
    for (const item of Object.values(value)) yield* textsIn(item);
  }
}

/** Returns the version of a folder of model files. In the cache of the hub, each commit has a folder with its name. */
function folderVersion(folder: string): unknown {
  const commit = /\b[0-9a-f]{40}\b.*/.exec(folder)?.[0];
  if (commit) return commit;
  return [
    folder,
    // The graph may be in a subfolder.
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => fileVersion(join(folder, name))),
  ];
}

/** Returns size and time of a file; undefined if the text is no path of a file. */
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
