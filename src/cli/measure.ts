import { group } from "d3-array";
import { z } from "zod";
import { checkedVerdict } from "../scan/checked-verdict.ts";
import type { Finding, Scanner, Side } from "../scan/scanner.ts";
import { SOURCES, type Source } from "../scan/source.ts";
import { createScanner, scannerClasses } from "../scanners/catalog.ts";
import { codePointOffsets } from "../text/offsets.ts";
import { UsageError } from "./command.ts";
import { ALL, type LabelledText, positiveBy } from "./labelled.ts";
import {
  type BinaryFigures,
  binaryFigures,
  type LabelFigures,
  labelFigures,
  type Outcome,
  ranksOf,
  type SpanFigures,
  spanFigures,
  type TypedSpan,
} from "./metrics.ts";
import { Progress } from "./progress.ts";

/** Texts that are scanned at a time, as a busy server would. */
const CONCURRENCY = 16;
/** The fields that say where a text is from, where none are named. */
const SOURCE_FIELDS = ["source", "set"];
/** The field that says a text's language; spans are counted by it too. */
const LANGUAGE_FIELD = "lang";

/** What is measured: a scanner on a file of labelled texts. */
export const evaluationSchema = z.strictObject({
  name: z.string().optional(),
  scanner: z.string(),
  side: z.enum(["input", "output"]).optional(),
  /** Where the texts come from, as the scanner is told; by default what its side says. */
  source: z.enum(SOURCES).optional(),
  params: z.record(z.string(), z.unknown()).default({}),
  file: z.string(),
  positives: z.array(z.string()).optional(),
  negatives: z.array(z.string()).optional(),
  otherwise: z.string().optional(),
  /** The types of findings that the file's spans are of; others are not counted, found or not. */
  spans: z.union([z.literal(ALL).transform(() => [ALL]), z.array(z.string()).min(1)]).optional(),
  by: z.union([z.string().transform((field) => [field]), z.array(z.string())]).optional(),
  /** For the model's curve of false positives: `true` for all harmless texts, or the values that fields of theirs must have. */
  curve: z.union([z.literal(true), z.record(z.string(), z.array(z.string()))]).optional(),
});
export type Evaluation = z.output<typeof evaluationSchema>;

export type Figures = BinaryFigures | LabelFigures | SpanFigures;

/** The figures of one scanner on one file. */
export interface Result {
  name: string;
  scanner: string;
  side: Side;
  params: Record<string, unknown>;
  file: string;
  textsPerSecond: number;
  all: Figures;
  /** Figures by the values of fields: `{ set: { chat: {...} } }`. */
  by: Record<string, Record<string, Figures>>;
}

/** What a scanner said of a text. */
export interface Judged extends Omit<Outcome, "positive"> {
  row: LabelledText;
  findings: readonly Finding[];
}

/** The figures and the outcomes behind them. Where labels or spans are compared, no text passes or fails, and there are no outcomes. */
export interface Measurement {
  result: Result;
  outcomes: (Outcome & Judged)[];
}

/** The side on which a scanner is measured: that which is named, or the first that it has. */
export function sideOf(scanner: string, side: string | undefined): Side {
  if (side === "input" || side === "output") return side;
  if (side !== undefined) throw new UsageError(`--side is input or output, not ${side}`);
  return !scannerClasses("input").has(scanner) && scannerClasses("output").has(scanner) ? "output" : "input";
}

/**
 * Scans texts, many at a time. The order of the result is that of the rows.
 *
 * @param source where all of the texts come from.
 */
export async function judge(scanner: Scanner, rows: readonly LabelledText[], source?: Source): Promise<Judged[]> {
  await scanner.load?.();
  const progress = new Progress(rows.length, false);
  const judged = new Array<Judged>(rows.length);
  let next = 0;
  const work = async () => {
    while (next < rows.length) {
      const index = next++;
      const row = rows[index] as LabelledText;
      const verdict = checkedVerdict(
        row.text,
        await scanner.scan(row.text, { prompt: row.prompt, ...(source ? { source } : {}) }),
      );
      const { isValid, score, probability, findings } = verdict;
      judged[index] = {
        row,
        failed: !isValid,
        score,
        ...(probability === undefined ? {} : { probability }),
        findings,
      };
      progress.step();
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
  } finally {
    next = rows.length;
    progress.clear();
  }
  // A scanner with probabilities gives none for a text without anything to judge: that counts as the probability 0.
  return judged.some(({ probability }) => probability !== undefined)
    ? judged.map((item) => ({ ...item, probability: item.probability ?? 0 }))
    : judged;
}

/** Measures a scanner on texts. */
export async function measure(item: Evaluation, rows: readonly LabelledText[]): Promise<Measurement> {
  const side = sideOf(item.scanner, item.side);
  const scanner = createScanner(side, item.scanner, paramsFor(item, rows));
  let judged: Judged[];
  let seconds: number;
  try {
    await scanner.load?.();
    const start = performance.now();
    judged = await judge(scanner, rows, item.source);
    seconds = (performance.now() - start) / 1000;
  } finally {
    await scanner.close?.();
  }
  const { otherwise, spans } = item;
  const isCompared = otherwise !== undefined || spans !== undefined;
  const isPositive = isCompared ? () => false : positiveBy(item);
  const outcomes = judged.map((one) => ({ ...one, positive: isPositive(one.row) }));
  const harmless = ranksOf(outcomes, false);
  const figures = (part: readonly (Outcome & Judged)[]): Figures => {
    if (spans !== undefined) return spanFigures(part.map((one) => comparedSpans(one, spans)));
    if (otherwise === undefined) return binaryFigures(part, harmless);
    return labelFigures(
      part.map(({ row, findings }) => ({ label: row.label as string, found: surestLabel(findings) ?? otherwise })),
    );
  };
  const has = (field: string) => rows[0]?.fields[field] !== undefined;
  const fields = item.by ?? [
    ...SOURCE_FIELDS.filter(has).slice(0, 1),
    ...(spans !== undefined && has(LANGUAGE_FIELD) ? [LANGUAGE_FIELD] : []),
  ];
  const groups = (field: string) => {
    const parts = group(outcomes, ({ row }) => String(row.fields[field] ?? ""));
    return Object.fromEntries(
      [...parts]
        .filter(([value]) => value !== "")
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([value, part]) => [value, figures(part)]),
    );
  };
  const result = {
    name: item.name ?? item.scanner,
    scanner: item.scanner,
    side,
    params: item.params,
    file: item.file,
    textsPerSecond: Math.round(rows.length / seconds),
    all: figures(outcomes),
    by: Object.fromEntries(fields.map((field) => [field, groups(field)])),
  };
  return { result, outcomes };
}

/** The label of the first of the surest findings. */
function surestLabel(findings: readonly Finding[]): string | undefined {
  const best = findings.reduce((best, { score }) => Math.max(best, score), 0);
  return findings.find(({ score }) => score >= best)?.label;
}

/** The spans of a text, and what was found there, of the types that are asked for. */
function comparedSpans(
  { row, findings }: Judged,
  types: readonly string[],
): { spans: TypedSpan[]; found: TypedSpan[] } {
  const isAsked = ({ type }: TypedSpan) => types.includes(ALL) || types.includes(type);
  const at = codePointOffsets(
    row.text,
    findings.flatMap(({ start, end }) => [start, end]),
  );
  const found = findings.map(({ start, end, label = "" }) => ({
    start: at.get(start) as number,
    end: at.get(end) as number,
    type: label,
  }));
  const spans = (row.spans ?? []).map(([start, end, type]) => ({ start, end, type }));
  return { spans: spans.filter(isAsked), found: found.filter(isAsked) };
}

function paramsFor({ params, otherwise }: Evaluation, rows: readonly LabelledText[]): Record<string, unknown> {
  const labels = [...new Set(rows.map(({ label }) => label))].filter((label) => label !== otherwise).sort();
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, value === ALL ? labels : value]));
}
