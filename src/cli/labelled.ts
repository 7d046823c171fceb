import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { isRecord } from "../is-record.ts";
import { UsageError } from "./command.ts";
import { decode, linesOf, open } from "./lines.ts";

/** A line of a file of labelled texts. */
export interface LabelledText {
  text: string;
  /** The prompt that the text answers, on the output side. */
  prompt: string;
  label?: string;
  /** All that the line says. */
  fields: Record<string, unknown>;
}

/** The names of the fields of a line. */
export interface FieldNames {
  text?: string | undefined;
  label?: string | undefined;
}

/** Which labels mean that a text should fail; where neither is named, words do that everybody reads the same way. */
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
export const labelledNotes = `A file has one JSON object a line, with text, label and, for the output side, prompt; .gz is unpacked, - is standard input.
With --positive all other labels should pass, with --negative all others should fail. Without either, in upper or lower case,
  ${POSITIVE_WORDS.join(", ")} should fail,
  ${NEGATIVE_WORDS.join(", ")} should pass,
and any other label is an error.`;

/**
 * Reads a file of labelled texts.
 *
 * @param plain whether a text may stand without a label, or as a string without an object around it.
 * @throws UsageError with the number of the line that is at fault.
 */
export async function readLabelled(path: string, names: FieldNames = {}, plain = false): Promise<LabelledText[]> {
  const { text: textField = "text", label: labelField = "label" } = names;
  const source = path.endsWith(".gz") ? createReadStream(path).pipe(createGunzip()) : open(path);
  const rows: LabelledText[] = [];
  for await (const { number, bytes } of linesOf(source)) {
    if (bytes.length === 0) continue;
    const bad = (message: string) => new UsageError(`${path}, line ${number}: ${message}`);
    let value: unknown;
    try {
      value = JSON.parse(decode(bytes));
    } catch {
      throw bad("not JSON");
    }
    if (plain && typeof value === "string") value = { [textField]: value };
    const expected = `expected an object with ${textField}${plain ? "" : ` and ${labelField}`}`;
    if (!isRecord(value)) throw bad(expected);
    const { [textField]: text, [labelField]: label, prompt } = value;
    const isLabel = ["string", "number", "boolean"].includes(typeof label);
    if (typeof text !== "string" || (!isLabel && !(plain && label === undefined))) throw bad(expected);
    rows.push({
      text,
      prompt: typeof prompt === "string" ? prompt : "",
      ...(isLabel ? { label: String(label) } : {}),
      fields: value,
    });
  }
  if (rows.length === 0) throw new UsageError(`${path} has no rows`);
  return rows;
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
 * Checks that the labels of the command line are in the file: one that is misspelt would turn every verdict around.
 *
 * @throws UsageError for one that is not, or when both lists are given.
 */
export function checkLabels(rows: readonly LabelledText[], { positives, negatives }: Labels): void {
  if (positives && negatives) throw new UsageError("give --positive or --negative, not both");
  const known = [...new Set(rows.map(({ label }) => label))].sort();
  const missing = (positives ?? negatives ?? []).find((label) => !known.includes(label));
  if (missing !== undefined) {
    throw new UsageError(
      `no text has the label ${JSON.stringify(missing)}; labels are: ${known.slice(0, 20).join(", ")}`,
    );
  }
  const isPositive = positiveBy({ positives, negatives });
  for (const label of known)
    isPositive({ text: "", prompt: "", fields: {}, ...(label === undefined ? {} : { label }) });
}
