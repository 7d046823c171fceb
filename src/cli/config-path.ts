import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ownFile } from "../own-files.ts";
import type { Environment } from "../support/environment.ts";
import { UsageError } from "./command.ts";

/** What the help of a command says of the file that it uses. */
export const CONFIG_HELP = "configuration; default: CONFIG_FILE, then ./scanners.yml, then guard's own";

/** The configuration file of a command, and who has chosen it. */
export interface ConfigFile {
  /** The path as it was given; absolute for the file that comes with guard. */
  path: string;
  from: "--config" | "argument" | "CONFIG_FILE" | "current folder" | "embedded";
}

/**
 * Finds the configuration file in the order of llm-guard: what the command line names, what the variable `CONFIG_FILE` names,
 * `scanners.yml` in the current folder, the file that comes with guard.
 *
 * @param option the value of `--config`.
 * @param argument a path that stands alone on the command line.
 * @throws UsageError when a file is named twice, or is named and not there: another one must not be taken in its place.
 */
export function configFile(option?: string, argument?: string, env: Environment = process.env): ConfigFile {
  if (option !== undefined && argument !== undefined) throw new UsageError("give --config or a path, not both");
  if (option !== undefined) return named(option, "--config");
  if (argument !== undefined) return named(argument, "argument");
  // A variable that is set to nothing names nothing: that is how compose files leave it out.
  if (env.CONFIG_FILE) return named(env.CONFIG_FILE, "CONFIG_FILE");
  if (existsSync("scanners.yml")) return { path: "scanners.yml", from: "current folder" };
  return { path: ownFile("scanners.yml"), from: "embedded" };
}

function named(path: string, from: "--config" | "argument" | "CONFIG_FILE"): ConfigFile {
  if (existsSync(path)) return { path, from };
  const at = resolve(path) === path ? "" : ` (${resolve(path)})`;
  throw new UsageError(`there is no file ${path}${at}${from === "argument" ? "" : `, which ${from} names`}`);
}
