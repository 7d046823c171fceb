import { isRecord } from "../support/is-record.ts";
import { UsageError } from "./command.ts";
import { csvRecords, isCsv } from "./csv.ts";
import { decode, fileName, isBlank, linesOf, open } from "./lines.ts";
import { readJson } from "./subjects.ts";

/** A line of a file, or a record of a CSV file. */
export interface InputValue {
  /** The number of the line, from 1; of a CSV record of several lines, the last one. */
  number: number;
  /**
   * Returns the value.
   *
   * @throws TypeError if the line is not UTF-8, or not JSON where JSON is expected, or has another number of fields than the header.
   */
  read(): unknown;
}

/** A column that a CSV file must have. */
export interface RequiredColumn {
  /** Its possible names. */
  names: readonly string[];
  /** The option that gives it another name. */
  option?: "--text" | "--label";
}

export interface ValueOptions {
  /** The field with the text, if it has another name than `text`. */
  textField?: string | undefined;
  requiredColumns: readonly RequiredColumn[];
  /** Whether a file may be empty. */
  allowsEmpty?: boolean;
}

/** The columns with the text of a prompt or an output. */
const SUBJECT_COLUMNS = ["text", "prompt", "output"];

/** The options for a file of subjects whose command has an option `--text`. */
export function subjectValues(textField: string | undefined): ValueOptions {
  const names = textField === undefined ? SUBJECT_COLUMNS : [textField];
  return { textField, requiredColumns: [{ names, option: "--text" }] };
}

/** The options for a file of subjects whose command has no option for the names of fields. */
export const SUBJECT_VALUES: ValueOptions = { requiredColumns: [{ names: SUBJECT_COLUMNS }] };

/**
 * Reads the values of a file of JSON lines, or of a `.csv` or `.tsv` file with a header (RFC 4180). Blank lines are skipped.
 *
 * @throws UsageError for a CSV file without a required column, and for a file without values.
 */
export function valuesOf(file: string, options: ValueOptions): AsyncGenerator<InputValue> {
  const values = isCsv(file) ? csvValues(file, options) : jsonValues(file, options);
  return options.allowsEmpty ? values : nonEmpty(file, values);
}

/**
 * Reads each line of a file as a text. Blank lines are skipped.
 *
 * @throws UsageError for a file without texts.
 */
export function textLines(file: string): AsyncGenerator<InputValue> {
  const values = async function* () {
    for await (const line of linesOf(open(file))) {
      if (!isBlank(line)) yield { number: line.number, read: () => decode(line.bytes).replace(/\r$/, "") };
    }
  };
  return nonEmpty(file, values());
}

/** Says which field or column is missing, which ones there are, and the option that names another one. */
export function missingField(
  kind: "field" | "column",
  names: readonly string[],
  known: readonly string[],
  option: RequiredColumn["option"],
): string {
  const example = option === "--text" && known.includes("output") ? ", such as --text output" : "";
  const advice = option ? `; name it with ${option}${example}` : "";
  return `no ${kind} ${alternatives(names)}; ${kind}s: ${known.join(", ") || "none"}${advice}`;
}

/** `a, b or c`. */
function alternatives(names: readonly string[]): string {
  return [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((part) => part !== "").join(" or ");
}

async function* csvValues(file: string, { textField, requiredColumns }: ValueOptions): AsyncGenerator<InputValue> {
  const checkColumns = (columns: readonly string[]) => {
    for (const { names, option } of requiredColumns) {
      if (!names.some((name) => columns.includes(name))) {
        throw new TypeError(missingField("column", names, columns, option));
      }
    }
  };
  for await (const { line, value, error } of csvRecords(file, checkColumns)) {
    const read = () => {
      if (error !== undefined) throw new TypeError(error);
      return withoutEmpty(renameText(value, textField), textField !== undefined);
    };
    yield { number: line, read };
  }
}

async function* jsonValues(file: string, { textField }: ValueOptions): AsyncGenerator<InputValue> {
  for await (const line of linesOf(open(file))) {
    if (isBlank(line)) continue;
    const read = () => {
      try {
        const value = readJson(decode(line.bytes));
        return isRecord(value) ? renameText(value, textField) : value;
      } catch (error) {
        // A header of CSV is no JSON.
        if (line.number > 1 || (error as Error).message !== "not JSON") throw error;
        throw new TypeError("not JSON; CSV is read from files whose names end in .csv or .tsv");
      }
    };
    yield { number: line.number, read };
  }
}

async function* nonEmpty(file: string, values: AsyncGenerator<InputValue>): AsyncGenerator<InputValue> {
  let isEmpty = true;
  for await (const value of values) {
    isEmpty = false;
    yield value;
  }
  if (isEmpty) throw new UsageError(`${fileName(file)} has no rows`);
}

function renameText(value: Record<string, unknown>, textField: string | undefined): Record<string, unknown> {
  if (textField === undefined) return value;
  const { [textField]: text, ...others } = value;
  return { ...others, text };
}

/**
 * A CSV record without its empty fields. An empty text is a text, as in JSON; without a name for its field, only if no other column has the
 * text of the record.
 */
function withoutEmpty(record: Record<string, unknown>, isTextNamed: boolean): Record<string, unknown> {
  const filled = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ""));
  const hasText = isTextNamed || !SUBJECT_COLUMNS.some((name) => name in filled);
  return record.text === "" && hasText ? { ...filled, text: "" } : filled;
}
