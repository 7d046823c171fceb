import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { UsageError } from "../command.ts";
import { csvRecords, isCsv } from "../csv.ts";
import { decode, isBlank, linesOf, open } from "../lines.ts";

/** A line of JSON, or a record of a CSV file. */
export interface FileRecord {
  /** The number of the line, from 1; of a CSV record of several lines, the last one. */
  line: number;
  value: unknown;
}

/**
 * Reads a file of JSON lines, or a `.csv` file with a header (RFC 4180; commas, semicolons or tabs). `.gz` files are unpacked; `-` is standard input.
 *
 * @throws UsageError with the number of the invalid line, without its text.
 */
export async function* recordsOf(path: string): AsyncGenerator<FileRecord> {
  const source = path.endsWith(".gz") ? unpack(path) : open(path);
  if (isCsv(path)) {
    yield* csvRecords(path, source);
    return;
  }
  for await (const line of linesOf(source)) {
    if (isBlank(line)) continue;
    let value: unknown;
    try {
      value = JSON.parse(decode(line.bytes));
    } catch {
      throw new UsageError(`${path}, line ${line.number}: not JSON`);
    }
    yield { line: line.number, value };
  }
}

/** Unpacks a gzipped file. */
function unpack(path: string): AsyncIterable<Buffer> {
  const unpacking = createGunzip();
  createReadStream(path)
    .on("error", (error) => unpacking.destroy(error))
    .pipe(unpacking);
  return unpacking;
}
