import { csvRecords, isCsv } from "./csv.ts";
import { decode, isBlank, linesOf, open } from "./lines.ts";
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

/**
 * Reads the values of a file of JSON lines, or of a `.csv` file with a header (RFC 4180; commas, semicolons or tabs). Blank lines are skipped.
 *
 * @param textField the field with the text, if it has another name than `text`.
 */
export async function* valuesOf(file: string, textField?: string): AsyncGenerator<InputValue> {
  const named = (value: unknown) => {
    if (textField === undefined || typeof value !== "object" || value === null) return value;
    const { [textField]: text, ...others } = value as Record<string, unknown>;
    return { ...others, text };
  };
  if (isCsv(file)) {
    for await (const { line, value, error } of csvRecords(file, open(file))) {
      const read = () => {
        if (error !== undefined) throw new TypeError(error);
        return named(value);
      };
      yield { number: line, read };
    }
    return;
  }
  for await (const line of linesOf(open(file))) {
    if (!isBlank(line)) yield { number: line.number, read: () => named(readJson(decode(line.bytes))) };
  }
}

/** Reads each line of a file as a text. Blank lines are skipped. */
export async function* textLines(file: string): AsyncGenerator<InputValue> {
  for await (const line of linesOf(open(file))) {
    if (!isBlank(line)) yield { number: line.number, read: () => decode(line.bytes).replace(/\r$/, "") };
  }
}
