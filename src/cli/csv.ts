import { isUtf8 } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { UsageError } from "./command.ts";
import { linesOf, open } from "./lines.ts";

/** A record of a CSV file. */
export interface CsvRecord {
  /** The number of its last line, from 1. */
  line: number;
  /** The fields by the names of their columns. */
  value: Record<string, string>;
  /** What is wrong with the record, without its text. */
  error: string | undefined;
}

/** Messages for the error codes of csv-parse, whose own messages quote the file. */
const ERRORS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quoted field is not closed",
  CSV_INVALID_CLOSING_QUOTE: "a quoted field must end with a comma or the end of the line; double a quote inside it",
  INVALID_OPENING_QUOTE: "a quote in a field that does not begin with a quote",
};

/** The separators of fields. Spreadsheets write semicolons where the comma separates decimals. */
const SEPARATORS = [",", ";", "\t"] as const;

/** Whether the name of a file is that of a CSV file, also of one with tabs or a packed one. */
export function isCsv(file: string): boolean {
  return /\.[ct]sv(\.gz)?$/i.test(file);
}

/** Writes a line of CSV (RFC 4180). */
export function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(",")}\r\n`;
}

/**
 * Reads the records of a CSV file with a header (RFC 4180). Fields are separated by tabs in a `.tsv` file, otherwise by commas, semicolons
 * or tabs. Columns without a name are left out. A record with another number of fields has an error, and the records after it are read.
 *
 * @param checkColumns throws a TypeError if the names of the columns are wrong.
 * @throws UsageError with the number of the line at which the file is no longer CSV, without its text.
 */
export async function* csvRecords(
  path: string,
  checkColumns: (columns: readonly string[]) => void,
): AsyncGenerator<CsvRecord> {
  const chunks = textOf(path);
  let start = "";
  while (!/[\r\n]/.test(start)) {
    const { done, value } = await chunks.next();
    if (done) break;
    start += value;
  }
  // Imported late, because other commands do not need it. A missing file is an error of the stream, which nobody would handle before.
  const { CsvError, parse } = await import("csv-parse");
  // The parser counts CRLF inside quotes as two line breaks.
  let doubleCounted = 0;
  let lastLine = 0;
  let emptyLines = 0;
  const parser = parse({
    ...{ bom: true, skip_empty_lines: true, relax_column_count: true },
    delimiter: /\.tsv(\.gz)?$/i.test(path) ? "\t" : separatorOf(start),
    // The parser calls this as soon as a record ends, perhaps before the loop below reads it. So an error has the line of the last record.
    on_record: (fields: string[], { lines, empty_lines }) => {
      doubleCounted += fields.reduce((sum, field) => sum + field.split("\r\n").length - 1, 0);
      lastLine = lines - doubleCounted;
      emptyLines = empty_lines;
      return [String(lastLine), ...fields];
    },
  });
  const whole = async function* () {
    yield start;
    yield* chunks;
  };
  // An error of the file destroys the parser, so the loop below throws it.
  pipeline(Readable.from(whole()), parser, () => {});
  let columns: readonly string[] | undefined;
  try {
    for await (const [line, ...fields] of parser as AsyncIterable<string[]>) {
      if (columns) {
        yield { line: Number(line), ...readRecord(columns, fields) };
      } else {
        columns = fields;
        checkHeader(path, columns, Number(line), checkColumns);
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines, empty_lines: empty } = error as unknown as { lines: number; empty_lines: number };
    const line = lines - doubleCounted;
    const first = lastLine + 1 + empty - emptyLines;
    const message = messageOf(error.code);
    if (error.code === "CSV_QUOTE_NOT_CLOSED") throw new UsageError(`${path}, line ${first}: ${message}`);
    const begin = first < line ? `; the record begins in line ${first}` : "";
    throw new UsageError(`${path}, line ${line}: ${message}${begin}`);
  }
}

function messageOf(code: string): string {
  return ERRORS[code] ?? `not CSV (${code})`;
}

/**
 * Checks the names of the columns.
 *
 * @throws UsageError if a name occurs twice, because only one of these columns could be read, and if `checkColumns` rejects the names.
 */
function checkHeader(
  path: string,
  columns: readonly string[],
  line: number,
  checkColumns: (columns: readonly string[]) => void,
): void {
  try {
    const named = columns.filter((name) => name !== "");
    const twice = named.find((name, index) => named.indexOf(name) < index);
    if (twice !== undefined) throw new TypeError(`the column ${twice} occurs twice`);
    checkColumns(named);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${path}, line ${line}: ${error.message}`);
  }
}

function readRecord(columns: readonly string[], fields: readonly string[]): Pick<CsvRecord, "value" | "error"> {
  const value = Object.fromEntries(columns.map((name, index) => [name, fields[index] ?? ""]));
  delete value[""];
  return {
    value,
    error: fields.length === columns.length ? undefined : "the number of fields differs from the header",
  };
}

/** Returns the separator that occurs most often in the header, outside of quotes. */
function separatorOf(start: string): string {
  const [header = ""] = start.replace(/"[^"]*"/g, "").split(/[\r\n]/, 1);
  const count = (separator: string) => header.split(separator).length;
  return [...SEPARATORS].sort((one, other) => count(other) - count(one))[0] as string;
}

/** Decodes a file as UTF-8. */
async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    for await (const chunk of open(path)) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${path}, line ${await findInvalidLine(path)}: not UTF-8 text`);
  }
}

/** The number of the first line that is not UTF-8. */
async function findInvalidLine(path: string): Promise<number | undefined> {
  for await (const { number, bytes } of linesOf(open(path))) if (!isUtf8(bytes)) return number;
  return undefined;
}
