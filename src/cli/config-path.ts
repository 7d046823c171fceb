import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The configuration to use: the one asked for, `scanners.yml` in the current folder, or the one that comes with guard. */
export function configPath(asked?: string): string {
  if (asked !== undefined) return asked;
  return existsSync("scanners.yml") ? "scanners.yml" : fileURLToPath(new URL("../../scanners.yml", import.meta.url));
}
