import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { UsageError } from "../command.ts";
import { decode, isBlank, linesOf, open } from "../lines.ts";

/** A line of JSON, or a record of a CSV file. */
export interface FileRecord {
  /** The number of the line, from 1; of a CSV record of several lines, the last one. */
  line: number;
  value: unknown;
}

/**
 * Reads a file of JSON lines, or a `.csv` file with a header (RFC 4180). `.gz` files are unpacked; `-` is standard input.
 *
 * @throws UsageError with the number of the invalid line, without its text.
 */
export async function* recordsOf(path: string): AsyncGenerator<FileRecord> {
  const source = path.endsWith(".gz") ? unpack(path) : open(path);
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

/** Messages for the error codes of csv-parse, whose own messages quote the file. */
const CSV_ERRORS: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_COLUMNS: "the number of fields differs from the header",
  CSV_QUOTE_NOT_CLOSED: "a quoted field is not closed",
  CSV_INVALID_CLOSING_QUOTE: "a quoted field must end with a comma or the end of the line; double a quote inside it",
  INVALID_OPENING_QUOTE: "a quote in a field that does not begin with a quote",
};

async function* csvRecords(path: string, source: AsyncIterable<Buffer>): AsyncGenerator<FileRecord> {
  // Imported late, because other commands do not need it.
  const { CsvError, parse } = await import("csv-parse");
  const parser = parse({ columns: true, bom: true, info: true, skip_empty_lines: true });
  // An error of the file destroys the parser, so the loop below throws it.
  pipeline(Readable.from(textOf(path, source)), parser, () => {});
  try {
    for await (const { record, info } of parser) yield { line: info.lines, value: withoutEmpty(record) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = "lines" in error ? `, line ${error.lines}` : "";
    throw new UsageError(`${path}${line}: ${CSV_ERRORS[error.code] ?? `not CSV (${error.code})`}`);
  }
}

/** The fields of a record without the empty ones. */
function withoutEmpty(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ""));
}

/** Decodes a file as UTF-8. */
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

/** Unpacks a gzipped file. */
function unpack(path: string): AsyncIterable<Buffer> {
  const unpacking = createGunzip();
  createReadStream(path)
    .on("error", (error) => unpacking.destroy(error))
    .pipe(unpacking);
  return unpacking;
}
