import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "./command.ts";

/**
 * Checks the path of a file for results before the work begins.
 *
 * @throws UsageError if its folder is missing, or if the path is a folder.
 */
export function checkOutputFile(option: string, file: string): void {
  if (!existsSync(dirname(file))) throw new UsageError(`${option}: there is no folder ${dirname(file)}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${option}: ${file} is a folder`);
}
