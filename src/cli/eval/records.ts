import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { UsageError } from "../command.ts";
import { decode, isBlank, linesOf, open } from "../lines.ts";

/** What one line of a file says, or one record of a CSV file. */
export interface FileRecord {
  /** The number of the line, from 1; of a CSV record that goes over several lines, the last one. */
  line: number;
  value: unknown;
}

/**
 * Reads a file of JSON lines, or of comma-separated values with a header (RFC 4180) where its name ends in `.csv`. A name that ends in
 * `.gz` is unpacked, and `-` is standard input.
 *
 * @throws UsageError with the number of the line that cannot be read. It quotes nothing of the line.
 */
export async function* recordsOf(path: string): AsyncGenerator<FileRecord> {
  const source = path.endsWith(".gz") ? unpacked(path) : open(path);
  if (/\.csv(\.gz)?$/i.test(path)) {
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

/** What the codes of csv-parse mean, without the parts of the file that its messages quote. */
const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_COLUMNS: "it has another number of fields than the header",
  CSV_QUOTE_NOT_CLOSED: "a quoted field does not end",
  CSV_INVALID_CLOSING_QUOTE:
    "behind a quoted field there must be a comma or the end of the line; a quote in it is written twice",
  INVALID_OPENING_QUOTE: "a quote stands in a field that does not begin with one",
};

async function* csvRecords(path: string, source: AsyncIterable<Buffer>): AsyncGenerator<FileRecord> {
  // Loaded late: other commands do without it.
  const { CsvError, parse } = await import("csv-parse");
  const parser = parse({ columns: true, bom: true, info: true, skip_empty_lines: true });
  // An error of the file destroys the parser, whose reader below is given it.
  pipeline(Readable.from(textOf(path, source)), parser, () => {});
  try {
    for await (const { record, info } of parser) yield { line: info.lines, value: withoutEmpty(record) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = "lines" in error ? `, line ${error.lines}` : "";
    throw new UsageError(`${path}${line}: ${CSV_FAULTS[error.code] ?? `not CSV (${error.code})`}`);
  }
}

/** The fields of a record that have a value: an empty field says nothing. */
function withoutEmpty(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ""));
}

/** The text of a file in UTF-8. */
async function* textOf(path: string, source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    for await (const chunk of source) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${path}: not UTF-8 text`);
  }
}

/** The bytes of a gzipped file. */
function unpacked(path: string): AsyncIterable<Buffer> {
  const unpacking = createGunzip();
  createReadStream(path)
    .on("error", (error) => unpacking.destroy(error))
    .pipe(unpacking);
  return unpacking;
}
