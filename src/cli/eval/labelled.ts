import { isRecord } from "../../support/is-record.ts";
import { lengthIn } from "../../text/offsets.ts";
import { UsageError } from "../command.ts";
import { valuesOf } from "../values.ts";

/** A line of a file of labelled texts. */
export interface LabelledText {
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
  scanner: { type: "string", value: "NAME", help: "the scanner to measure" },
  side: { type: "string", value: "SIDE", help: "input or output; default: input, if the scanner has that side" },
  params: { type: "string", value: "JSON", help: "parameters of the scanner, as in scanners.yml" },
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
export const labelledNotes = `A file has a JSON object in each line, with text, label and, for outputs, prompt. A .gz file is unpacked; - is standard input. A .csv
file (RFC 4180; commas, semicolons or tabs) has the names of the fields in its first line.
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
 * @param scanner the type of the scanner to measure, which may need prompts.
 * @param needs with `nothing`, a line may also be a string.
 * @throws UsageError with the number of the invalid line.
 */
export async function readLabelled(
  path: string,
  scanner: string,
  names: FieldNames = {},
  needs: RequiredField = "label",
): Promise<LabelledText[]> {
  const { text: textField = "text", label: labelField = "label" } = names;
  const allowsStrings = needs === "nothing";
  const needed = { label: ` and ${labelField}`, nothing: "", spans: " and spans, each [start, end, type] in the text" };
  const rows: LabelledText[] = [];
  const needsPrompt = await comparesWithPrompt(scanner);
  for await (const { number, read } of valuesOf(path)) {
    const invalid = (message: string) => new UsageError(`${path}, line ${number}: ${message}`);
    let value: unknown;
    try {
      value = read();
    } catch (error) {
      throw invalid((error as Error).message);
    }
    if (allowsStrings && typeof value === "string") value = { [textField]: value };
    const expected = `expected an object with ${textField}${needed[needs]}`;
    if (!isRecord(value)) throw invalid(expected);
    const { [textField]: text, [labelField]: label, prompt } = value;
    if (prompt !== undefined && typeof prompt !== "string") throw invalid("prompt: expected a string");
    if (prompt === undefined && needsPrompt) throw invalid(`no prompt, which ${scanner} needs`);
    const isLabel = ["string", "number", "boolean"].includes(typeof label);
    if (typeof text !== "string") throw invalid(expected);
    const spans = needs === "spans" ? spansOf(text, value.spans) : undefined;
    const isEnough = { label: isLabel, nothing: isLabel || label === undefined, spans: spans !== undefined };
    if (!isEnough[needs]) throw invalid(expected);
    rows.push({
      text,
      prompt: prompt ?? "",
      ...(isLabel ? { label: String(label) } : {}),
      ...(spans === undefined ? {} : { spans }),
      fields: value,
    });
  }
  if (rows.length === 0) throw new UsageError(`${path} has no rows`);
  return rows;
}

/** The spans of a line; `undefined` if one of them is not a span of the text. */
function spansOf(text: string, value: unknown): LabelledSpan[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const length = lengthIn("codePoint", text);
  const isSpan = (span: unknown): span is LabelledSpan => {
    if (!Array.isArray(span) || span.length !== 3) return false;
    const [start, end, type] = span;
    return (
      [start, end].every(Number.isInteger) && 0 <= start && start < end && end <= length && typeof type === "string"
    );
  };
  return value.every(isSpan) ? value : undefined;
}

/**
 * Returns a function that tells whether a text should fail.
 *
 * @throws UsageError (the function) for a label that is neither.
 */
export function positiveTest({ positives, negatives }: Labels): (row: LabelledText) => boolean {
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
  const known = [...new Set(rows.map(({ label }) => label))].sort();
  const missing = (positives ?? negatives ?? []).find((label) => !known.includes(label));
  if (missing !== undefined) {
    throw new UsageError(
      `${path}: no text has the label ${JSON.stringify(missing)}; labels are: ${known.slice(0, 20).join(", ")}`,
    );
  }
  const isPositive = positiveTest({ positives, negatives });
  for (const label of known)
    isPositive({ text: "", prompt: "", fields: {}, ...(label === undefined ? {} : { label }) });
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
