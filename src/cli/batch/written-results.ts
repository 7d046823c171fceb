import { stat } from "node:fs/promises";
import { isRecord } from "../../support/is-record.ts";
import { UsageError } from "../command.ts";
import { linesOf, open } from "../lines.ts";
import { idOf, readJson } from "../subjects.ts";

/** The results that an interrupted run has written. */
export interface WrittenResults {
  /** The length of the file up to the end of the last whole result. */
  bytes: number;
  /** The number of the line that the last result is for; 0 without results. */
  lastLine: number;
  /** The id of that line, if it has one. */
  lastId: string | number | undefined;
  results: number;
  failed: number;
  errors: number;
}

/**
 * Reads the results in a file. A last line that was not written to its end does not count.
 *
 * @throws UsageError if another program has written the file.
 */
export async function readWrittenResults(path: string): Promise<WrittenResults> {
  const written: WrittenResults = { bytes: 0, lastLine: 0, lastId: undefined, results: 0, failed: 0, errors: 0 };
  const { size } = (await stat(path).catch(ignoreMissing)) ?? { size: 0 };
  if (size === 0) return written;
  for await (const { number, bytes } of linesOf(open(path))) {
    const end = written.bytes + bytes.length + 1;
    if (end > size) break;
    const result = resultOf(bytes);
    if (!result || result.line <= written.lastLine) {
      throw new UsageError(`${path}, line ${number}: not a result of guard-scan scan --jsonl, so it cannot be resumed`);
    }
    written.bytes = end;
    written.lastLine = result.line;
    written.lastId = idOf(result);
    written.results += 1;
    if ("error" in result) written.errors += 1;
    else if (result.is_valid !== true) written.failed += 1;
  }
  return written;
}

function resultOf(bytes: Buffer): (Record<string, unknown> & { line: number }) | undefined {
  try {
    const value = readJson(bytes.toString("utf8"));
    if (isRecord(value) && typeof value.line === "number") return { ...value, line: value.line };
  } catch {
    // Not JSON, so not a result.
  }
  return undefined;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
