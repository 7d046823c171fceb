import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ownFile } from "../own-files.ts";
import type { Environment } from "../support/environment.ts";
import { UsageError } from "./command.ts";

/** The help of options and arguments that name a configuration file. */
export const CONFIG_HELP = "configuration file; default: CONFIG_FILE, then ./scanners.yml, then guard's own";

/** The configuration file of a command, and where its path comes from. */
export interface ConfigFile {
  /** The path as given; absolute for guard's own file. */
  path: string;
  from: "--config" | "argument" | "CONFIG_FILE" | "current folder" | "embedded";
}

/**
 * Finds the configuration file in the order of llm-guard: the command line, the variable `CONFIG_FILE`, `scanners.yml` in the current
 * folder, guard's own file.
 *
 * @param option the value of `--config`.
 * @param argument the positional argument, if any.
 * @throws UsageError if both are given, or if the named file does not exist: falling back to another file would be unsafe.
 */
export function configFile(option?: string, argument?: string, env: Environment = process.env): ConfigFile {
  if (option !== undefined && argument !== undefined) throw new UsageError("give --config or a path, not both");
  if (option !== undefined) return existingFile(option, "--config");
  if (argument !== undefined) return existingFile(argument, "argument");
  // Compose files set a variable to the empty string to leave it out.
  if (env.CONFIG_FILE) return existingFile(env.CONFIG_FILE, "CONFIG_FILE");
  if (existsSync("scanners.yml")) return { path: "scanners.yml", from: "current folder" };
  return { path: ownFile("scanners.yml"), from: "embedded" };
}

function existingFile(path: string, from: "--config" | "argument" | "CONFIG_FILE"): ConfigFile {
  if (existsSync(path)) return { path, from };
  const at = resolve(path) === path ? "" : ` (${resolve(path)})`;
  throw new UsageError(`there is no file ${path}${at}${from === "argument" ? "" : `, which ${from} names`}`);
}
