import { isRecord } from "../../support/is-record.ts";
import { lengthIn } from "../../text/offsets.ts";
import { UsageError } from "../command.ts";
import { isCsv } from "../csv.ts";
import { fileName } from "../lines.ts";
import { missingField, type RequiredColumn, valuesOf } from "../values.ts";

/** A line of a file of labelled texts. */
export interface LabelledText {
  /** The number of the line, from 1; of a CSV record of several lines, the last one. */
  line: number;
  text: string;
  /** The prompt of an output; empty if the line has none. */
  prompt: string;
  label?: string;
  /** The labelled spans of the text, in Unicode code points; only if spans are read. */
  spans?: LabelledSpan[];
  /** All fields of the line. */
  fields: Record<string, unknown>;
}

/**
 * As the value of an option in `params`: all labels of the file except that of `otherwise`. As the value of `spans`: all types.
 */
export const ALL = "ALL";

/** A span of a text in code points, and its type. */
export type LabelledSpan = readonly [start: number, end: number, type: string];

/** What a line needs beside its text: a label, nothing (a label is optional), or spans. */
export type RequiredField = "label" | "nothing" | "spans";

/** The names of the fields with the text and the label. */
export interface FieldNames {
  text?: string | undefined;
  label?: string | undefined;
}

/** The labels of texts that should fail, or of texts that should pass. Without either list, common words such as `safe` are used. */
export interface Labels {
  positives?: readonly string[] | undefined;
  negatives?: readonly string[] | undefined;
}

const POSITIVE_WORDS = [
  "true",
  "1",
  "yes",
  "positive",
  "fail",
  "unsafe",
  "malicious",
  "attack",
  "injection",
  "jailbreak",
];
const NEGATIVE_WORDS = ["false", "0", "no", "negative", "pass", "safe", "benign", "harmless", "clean", "none"];

/** The options of commands that read labelled texts. */
export const labelledOptions = {
  scanner: { type: "string", multiple: true, value: "NAME", help: "the scanner to measure" },
  side: { type: "string", value: "SIDE", help: "input or output; default: input, if the scanner has that side" },
  params: {
    type: "string",
    multiple: true,
    value: "JSON",
    help: "parameters of the preceding --scanner, as in scanners.yml",
  },
  positive: {
    type: "string",
    multiple: true,
    value: "LABEL",
    help: "texts with this label should fail; may be repeated",
  },
  negative: {
    type: "string",
    multiple: true,
    value: "LABEL",
    help: "texts with this label should pass; may be repeated",
  },
  text: { type: "string", value: "FIELD", help: "field with the text; default: text" },
  label: { type: "string", value: "FIELD", help: "field with the label; default: label" },
} as const;

/** Explains files of labelled texts for the help. */
export const labelledNotes = `A file has a JSON object in each line, with text, label and, for outputs, prompt. A .gz file is unpacked; - is standard input,
with JSON lines. A .csv file (RFC 4180; commas, semicolons or tabs) or .tsv file (tabs) has the names of the fields in its first line.
The lines of guard-scan scan --jsonl with prompt and output need --text output.
Scanners that compare an output with its prompt, such as Relevance, need a prompt in every line.
With --positive all other labels should pass; with --negative all other labels should fail. Without either, in upper or lower case,
  ${POSITIVE_WORDS.join(", ")} should fail,
  ${NEGATIVE_WORDS.join(", ")} should pass,
and any other label is an error.
For --spans a line has spans instead of a label: a list of [START, END, TYPE] in Unicode code points, as in Python.`;

/** Whether a scanner needs prompts. Without one it passes every text, which would count as correct. */
async function comparesWithPrompt(type: string): Promise<boolean> {
  // Imported late, because the help does not need the scanners.
  const { scannerClasses } = await import("../../scanners/catalog.ts");
  return scannerClasses("output").get(type)?.definition.comparesWithPrompt ?? false;
}

/**
 * Reads a file of labelled texts.
 *
 * @param scanner the type of the scanner to measure, which may need prompts; undefined if none does.
 * @param needs with `nothing`, a line may also be a string.
 * @throws UsageError with the number of the invalid line, and for a file without rows.
 */
export async function readLabelled(
  path: string,
  scanner: string | undefined,
  names: FieldNames = {},
  needs: RequiredField = "label",
): Promise<LabelledText[]> {
  const { text: textField = "text", label: labelField = "label" } = names;
  const requiredColumns: RequiredColumn[] = [
    { names: [textField], option: "--text" },
    ...(needs === "label" ? [{ names: [labelField], option: "--label" } as const] : []),
  ];
  const rows: LabelledText[] = [];
  const needsPrompt = scanner !== undefined && (await comparesWithPrompt(scanner));
  for await (const { number, read } of valuesOf(path, { requiredColumns })) {
    try {
      const value = read();
      const isString = needs === "nothing" && typeof value === "string";
      const fields = isString ? { [textField]: value } : value;
      if (!isRecord(fields)) throw new TypeError("expected an object");
      const text = fields[textField] ?? (isCsv(path) ? "" : undefined);
      if (text === undefined) {
        throw new TypeError(missingField("field", [textField], Object.keys(fields), "--text"));
      }
      if (typeof text !== "string") throw new TypeError(`${textField}: expected a string`);
      const { prompt } = fields;
      if (prompt !== undefined && typeof prompt !== "string") throw new TypeError("prompt: expected a string");
      if (prompt === undefined && needsPrompt) throw new TypeError(`no prompt, which ${scanner} needs`);
      const label = needs === "spans" ? undefined : labelOf(fields, labelField);
      if (label === undefined && needs === "label") {
        throw new TypeError(
          isCsv(path)
            ? `the column ${labelField} is empty`
            : missingField("field", [labelField], Object.keys(fields), "--label"),
        );
      }
      rows.push({
        line: number,
        text,
        prompt: prompt ?? "",
        ...(label === undefined ? {} : { label }),
        ...(needs === "spans" ? { spans: spansOf(text, fields.spans) } : {}),
        fields,
      });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new UsageError(`${fileName(path)}, line ${number}: ${error.message}`);
    }
  }
  return rows;
}

/** @throws TypeError for a value that is no label. */
function labelOf(fields: Record<string, unknown>, name: string): string | undefined {
  const label = fields[name];
  if (label === undefined) return undefined;
  if (!["string", "number", "boolean"].includes(typeof label)) {
    throw new TypeError(`${name}: expected a string, a number or a boolean`);
  }
  return String(label);
}

/**
 * The spans of a line.
 *
 * @throws TypeError if one of them is not a span of the text.
 */
function spansOf(text: string, value: unknown): LabelledSpan[] {
  const length = lengthIn("codePoint", text);
  const isSpan = (span: unknown): span is LabelledSpan => {
    if (!Array.isArray(span) || span.length !== 3) return false;
    const [start, end, type] = span;
    return (
      [start, end].every(Number.isInteger) && 0 <= start && start < end && end <= length && typeof type === "string"
    );
  };
  if (Array.isArray(value) && value.every(isSpan)) return value;
  throw new TypeError("spans: expected a list of [START, END, TYPE] in the text");
}

/**
 * Returns a function that tells whether a text should fail.
 *
 * @throws UsageError (the function) for a label that is neither.
 */
export function positiveTest({ positives, negatives }: Labels): (row: Pick<LabelledText, "label">) => boolean {
  if (positives) return ({ label = "" }) => positives.includes(label);
  if (negatives) return ({ label = "" }) => !negatives.includes(label);
  return ({ label = "" }) => {
    const word = label.toLowerCase();
    if (POSITIVE_WORDS.includes(word)) return true;
    if (NEGATIVE_WORDS.includes(word)) return false;
    throw new UsageError(`the label ${JSON.stringify(label)} is ambiguous: name labels with --positive or --negative`);
  };
}

/**
 * Checks that the named labels occur in the file: a misspelt label would count correct verdicts as wrong.
 *
 * @throws UsageError for a label that does not occur, and if both lists are given.
 */
export function checkLabels(path: string, rows: readonly LabelledText[], { positives, negatives }: Labels): void {
  if (positives && negatives) throw new UsageError("give --positive or --negative, not both");
  checkLabelsOccur(path, rows, positives ?? negatives ?? []);
  const isPositive = positiveTest({ positives, negatives });
  for (const row of rows) isPositive(row);
}

/**
 * Checks that labels occur in the file.
 *
 * @throws UsageError for a label that does not occur.
 */
export function checkLabelsOccur(path: string, rows: readonly LabelledText[], labels: readonly string[]): void {
  const known = [...new Set(rows.map(({ label }) => label))].sort();
  const missing = labels.find((label) => !known.includes(label));
  if (missing === undefined) return;
  throw new UsageError(
    `${path}: no text has the label ${JSON.stringify(missing)}; labels are: ${known.slice(0, 20).join(", ")}`,
  );
}

/**
 * Checks that the fields by which figures are grouped occur in the file: a misspelt field would have no groups.
 *
 * @throws UsageError for a field that no text has.
 */
export function checkGroupFields(path: string, rows: readonly LabelledText[], names: readonly string[]): void {
  const known = [...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))];
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined) return;
  throw new UsageError(`${path}: no text has the field ${missing}; fields are: ${known.slice(0, 20).join(", ")}`);
}

/**
 * Checks that the file has spans of at least one of the types: a misspelt type would find nothing.
 *
 * @throws UsageError if it has none.
 */
export function checkSpanTypes(path: string, rows: readonly LabelledText[], types: readonly string[]): void {
  const known = [...new Set(rows.flatMap(({ spans = [] }) => spans.map(([, , type]) => type)))].sort();
  if (known.length === 0 || types.includes(ALL) || types.some((type) => known.includes(type))) return;
  throw new UsageError(
    `${path}: no text has a span of the type ${types.join(", ")}; types are: ${known.slice(0, 20).join(", ")}`,
  );
}
