import { isRecord } from "../../support/is-record.ts";
import { lengthIn } from "../../text/offsets.ts";
import { UsageError } from "../command.ts";
import { recordsOf } from "./records.ts";

/** A line of a file of labelled texts. */
export interface LabelledText {
  text: string;
  /** The prompt that the text answers, on the output side; empty where the line has none. */
  prompt: string;
  label?: string;
  /** What is in the text and where, in Unicode code points; only where spans are read. */
  spans?: LabelledSpan[];
  /** All fields of the line. */
  fields: Record<string, unknown>;
}

/**
 * In `params`, this word as the value of an option means every label of the file, but for that of `otherwise`; as that of `spans`, it
 * means every type.
 */
export const ALL = "ALL";

/** A part of a text from one code point to another, and its type. */
export type LabelledSpan = readonly [start: number, end: number, type: string];

/** What a line has to say of its text: a label, perhaps a label, or the spans in it. */
export type Needs = "label" | "nothing" | "spans";

/** The names of the fields of a line. */
export interface FieldNames {
  text?: string | undefined;
  label?: string | undefined;
}

/** Which labels mean that a text should fail. Where neither list is given, words count that everybody reads the same way, such as `safe`. */
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

/** The options of a command that reads labelled texts of the user's own. */
export const labelledOptions = {
  scanner: { type: "string", value: "NAME", help: "the scanner" },
  side: { type: "string", value: "SIDE", help: "input or output; default: input, where the scanner has that side" },
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
  text: { type: "string", value: "FIELD", help: "the field with the text; default: text" },
  label: { type: "string", value: "FIELD", help: "the field with the label; default: label" },
} as const;

/** What the help says of labels. */
export const labelledNotes = `A file has one JSON object a line, with text, label and, for the output side, prompt; .gz is unpacked, - is standard input. A .csv file
(RFC 4180) names the same fields in its first line.
For a scanner that compares texts with their prompts, such as whether an answer is relevant, every line needs a prompt.
With --positive all other labels should pass, with --negative all others should fail. Without either, in upper or lower case,
  ${POSITIVE_WORDS.join(", ")} should fail,
  ${NEGATIVE_WORDS.join(", ")} should pass,
and any other label is an error.
For --spans a line has spans, a list of [START, END, TYPE] in Unicode code points as Python counts them, in place of a label.`;

/** Whether a scanner passes a text without a prompt, which would count as a right answer. */
async function comparesWithPrompt(type: string): Promise<boolean> {
  // Loaded late: the help of a command does not need the scanners.
  const { scannerClasses } = await import("../../scanners/catalog.ts");
  return scannerClasses("output").get(type)?.definition.comparesWithPrompt ?? false;
}

/**
 * Reads a file of labelled texts.
 *
 * @param scanner the type of scanner that they are for: some need prompts.
 * @param needs with `nothing`, a text may also stand as a string without an object around it.
 * @throws UsageError with the number of the line that is at fault.
 */
export async function readLabelled(
  path: string,
  scanner: string,
  names: FieldNames = {},
  needs: Needs = "label",
): Promise<LabelledText[]> {
  const { text: textField = "text", label: labelField = "label" } = names;
  const plain = needs === "nothing";
  const also = { label: ` and ${labelField}`, nothing: "", spans: " and spans, each [start, end, type] in the text" };
  const rows: LabelledText[] = [];
  const needsPrompt = await comparesWithPrompt(scanner);
  for await (const record of recordsOf(path)) {
    let { value } = record;
    const bad = (message: string) => new UsageError(`${path}, line ${record.line}: ${message}`);
    if (plain && typeof value === "string") value = { [textField]: value };
    const expected = `expected an object with ${textField}${also[needs]}`;
    if (!isRecord(value)) throw bad(expected);
    const { [textField]: text, [labelField]: label, prompt } = value;
    if (prompt !== undefined && typeof prompt !== "string") throw bad("prompt: expected a string");
    if (prompt === undefined && needsPrompt) throw bad(`no prompt, which ${scanner} compares a text with`);
    const isLabel = ["string", "number", "boolean"].includes(typeof label);
    if (typeof text !== "string") throw bad(expected);
    const spans = needs === "spans" ? spansOf(text, value.spans) : undefined;
    const isEnough = { label: isLabel, nothing: isLabel || label === undefined, spans: spans !== undefined };
    if (!isEnough[needs]) throw bad(expected);
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

/** The spans of a line; `undefined` where one of them does not lie within the text. */
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
 * Tells texts that should fail from those that should pass.
 *
 * @throws UsageError for a label that says neither.
 */
export function positiveBy({ positives, negatives }: Labels): (row: LabelledText) => boolean {
  if (positives) return ({ label = "" }) => positives.includes(label);
  if (negatives) return ({ label = "" }) => !negatives.includes(label);
  return ({ label = "" }) => {
    const word = label.toLowerCase();
    if (POSITIVE_WORDS.includes(word)) return true;
    if (NEGATIVE_WORDS.includes(word)) return false;
    throw new UsageError(
      `the label ${JSON.stringify(label)} may mean anything: name labels with --positive or --negative`,
    );
  };
}

/**
 * Checks that the labels that are named occur in the file: a misspelt one would turn right verdicts into wrong ones.
 *
 * @throws UsageError for a label that does not occur, or when both lists are given.
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
  const isPositive = positiveBy({ positives, negatives });
  for (const label of known)
    isPositive({ text: "", prompt: "", fields: {}, ...(label === undefined ? {} : { label }) });
}

/**
 * Checks that the file has spans of at least one of the types: with a misspelt type there would be nothing to find, and so no error.
 *
 * @throws UsageError where there are none.
 */
export function checkSpanTypes(path: string, rows: readonly LabelledText[], types: readonly string[]): void {
  const known = [...new Set(rows.flatMap(({ spans = [] }) => spans.map(([, , type]) => type)))].sort();
  if (known.length === 0 || types.includes(ALL) || types.some((type) => known.includes(type))) return;
  throw new UsageError(
    `${path}: no text has a span of the type ${types.join(", ")}; types are: ${known.slice(0, 20).join(", ")}`,
  );
}
