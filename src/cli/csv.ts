import { pipeline, Readable } from "node:stream";
import { UsageError } from "./command.ts";

/** A record of a CSV file. */
export interface CsvRecord {
  /** The number of its last line, from 1. */
  line: number;
  value: Record<string, string>;
  /** What is wrong with the record, without its text. */
  error: string | undefined;
}

/** Messages for the error codes of csv-parse, whose own messages quote the file. */
const ERRORS: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_COLUMNS: "the number of fields differs from the header",
  CSV_QUOTE_NOT_CLOSED: "a quoted field is not closed",
  CSV_INVALID_CLOSING_QUOTE: "a quoted field must end with a comma or the end of the line; double a quote inside it",
  INVALID_OPENING_QUOTE: "a quote in a field that does not begin with a quote",
};

/** The separators of fields. Spreadsheets write semicolons where the comma separates decimals. */
const SEPARATORS = [",", ";", "\t"] as const;

/** Whether the name of a file is that of a CSV file, also a packed one. */
export function isCsv(file: string): boolean {
  return /\.csv(\.gz)?$/i.test(file);
}

/** Writes a line of CSV (RFC 4180). */
export function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(",")}\r\n`;
}

/**
 * Reads the records of a CSV file with a header (RFC 4180), whose fields are separated by commas, semicolons or tabs. Empty fields are left
 * out. A record with another number of fields has an error, and the records after it are read.
 *
 * @throws UsageError with the number of the line at which the file is no longer CSV, without its text.
 */
export async function* csvRecords(path: string, source: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  const chunks = textOf(path, source)[Symbol.asyncIterator]();
  let start = "";
  while (!/[\r\n]/.test(start)) {
    const { done, value } = await chunks.next();
    if (done) break;
    start += value;
  }
  // Imported late, because other commands do not need it. A missing file is an error of the stream, which nobody would handle before.
  const { CsvError, parse } = await import("csv-parse");
  const delimiter = separatorOf(start);
  const parser = parse({
    ...{ columns: true, bom: true, info: true, skip_empty_lines: true, delimiter },
    relax_column_count: true,
  });
  const rest = async function* () {
    yield start;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  // An error of the file destroys the parser, so the loop below throws it.
  pipeline(Readable.from(rest()), parser, () => {});
  try {
    for await (const { record, info } of parser) {
      yield { line: info.lines, value: withoutEmpty(record), error: info.error && messageOf(info.error.code) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = "lines" in error ? `, line ${error.lines}` : "";
    throw new UsageError(`${path}${line}: ${messageOf(error.code)}`);
  }
}

function messageOf(code: string): string {
  return ERRORS[code] ?? `not CSV (${code})`;
}

/** Returns the separator that occurs most often in the header, outside of quotes. */
function separatorOf(start: string): string {
  const [header = ""] = start.replace(/"[^"]*"/g, "").split(/[\r\n]/, 1);
  const count = (separator: string) => header.split(separator).length;
  return [...SEPARATORS].sort((one, other) => count(other) - count(one))[0] as string;
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
