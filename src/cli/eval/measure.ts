import { group } from "d3-array";
import { z } from "zod";
import { checkedVerdict } from "../../scan/checked-verdict.ts";
import type { Finding, Scanner, Side } from "../../scan/scanner.ts";
import { SOURCES, type Source } from "../../scan/source.ts";
import { createScanner, scannerClasses } from "../../scanners/catalog.ts";
import { codePointOffsets } from "../../text/offsets.ts";
import { UsageError } from "../command.ts";
import { ALL, type LabelledText, positiveTest } from "./labelled.ts";
import { mapRows } from "./map-rows.ts";
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

/** The fields by which figures are grouped by default; the first that the texts have. */
const SOURCE_FIELDS = ["source", "set"];
/** The field with the language. Figures of spans are grouped by it too. */
const LANGUAGE_FIELD = "lang";

/** An evaluation: a scanner on a file of labelled texts. */
export const evaluationSchema = z.strictObject({
  name: z.string().optional(),
  scanner: z.string(),
  side: z.enum(["input", "output"]).optional(),
  /** The source of the texts; default: that of the side. */
  source: z.enum(SOURCES).optional(),
  params: z.record(z.string(), z.unknown()).default({}),
  file: z.string(),
  positives: z.array(z.string()).optional(),
  negatives: z.array(z.string()).optional(),
  otherwise: z.string().optional(),
  /** The types of spans to compare. Spans and findings of other types are ignored. */
  spans: z.union([z.literal(ALL).transform(() => [ALL]), z.array(z.string()).min(1)]).optional(),
  by: z.union([z.string().transform((field) => [field]), z.array(z.string())]).optional(),
  /** The harmless texts for the model's curve of false positives: `true` for all, or the values that their fields must have. */
  curve: z.union([z.literal(true), z.record(z.string(), z.array(z.string()))]).optional(),
});
export type Evaluation = z.output<typeof evaluationSchema>;

export type Figures = BinaryFigures | LabelFigures | SpanFigures;

/** How the texts of an evaluation are compared with their labels: by spans, by labels, or by whether they fail. */
export type Comparison = Pick<Evaluation, "spans" | "otherwise">;

/** Figures on the texts of a file. */
export interface Result {
  name: string;
  side: Side;
  file: string;
  textsPerSecond: number;
  all: Figures;
  /** Figures by fields and their values: `{ set: { chat: {...} } }`. */
  by: Record<string, Record<string, Figures>>;
}

/** The figures of a scanner on a file. */
export interface ScannerResult extends Result {
  scanner: string;
  params: Record<string, unknown>;
}

/** A text and the verdict on it. */
export interface JudgedText extends Omit<Outcome, "positive"> {
  row: LabelledText;
  findings: readonly Finding[];
}

/** The outcomes of an evaluation. */
export interface Measured {
  evaluation: Comparison;
  result: Result;
  outcomes: (Outcome & JudgedText)[];
}

/** The figures of a scanner and the outcomes behind them. */
export interface Measurement extends Measured {
  evaluation: Evaluation;
  result: ScannerResult;
}

/** Reads `--side`. */
export function readSide(side: string | undefined): Side | undefined {
  if (side === undefined || side === "input" || side === "output") return side;
  throw new UsageError(`--side: expected input or output, got ${side}`);
}

/** The side of a scanner: the named one, or the first that it has. */
export function sideOf(scanner: string, side: string | undefined): Side {
  const named = readSide(side);
  if (named !== undefined) return named;
  return !scannerClasses("input").has(scanner) && scannerClasses("output").has(scanner) ? "output" : "input";
}

/**
 * Scans texts, many at the same time. The results have the order of the rows.
 *
 * @param source the source of all texts.
 */
export async function judge(scanner: Scanner, rows: readonly LabelledText[], source?: Source): Promise<JudgedText[]> {
  await scanner.load?.();
  const judged = await mapRows(rows, async (row): Promise<JudgedText> => {
    const verdict = checkedVerdict(
      scanner,
      row.text,
      await scanner.scan(row.text, { prompt: row.prompt, ...(source ? { source } : {}) }),
    );
    const { isValid, score, probability, findings } = verdict;
    return { row, failed: !isValid, score, ...(probability === undefined ? {} : { probability }), findings };
  });
  // A scanner with probabilities gives none for a text with nothing to judge. That counts as 0.
  return judged.some(({ probability }) => probability !== undefined)
    ? judged.map((item) => ({ ...item, probability: item.probability ?? 0 }))
    : judged;
}

/** Measures a scanner on texts. */
export async function measure(evaluation: Evaluation, rows: readonly LabelledText[]): Promise<Measurement> {
  const { scanner, side, spans, otherwise, params, file } = evaluation;
  const { judged, seconds } = await judgeTimed(evaluation, rows);
  const isCompared = otherwise !== undefined || spans !== undefined;
  const isPositive = isCompared ? () => false : positiveTest(evaluation);
  const outcomes = judged.map((one) => ({ ...one, positive: isPositive(one.row) }));
  const harmless = ranksOf(outcomes, false);
  const figures = (part: readonly (Outcome & JudgedText)[]) => figuresOf(evaluation, part, harmless);
  const result = {
    name: evaluation.name ?? scanner,
    scanner,
    side: sideOf(scanner, side),
    params,
    file,
    textsPerSecond: Math.round(rows.length / seconds),
    all: figures(outcomes),
    by: figuresByField(outcomes, fieldsOf(evaluation, rows), figures),
  };
  return { evaluation, result, outcomes };
}

/** Scans the texts of an evaluation, and measures how long that takes without loading the model. */
async function judgeTimed(
  evaluation: Evaluation,
  rows: readonly LabelledText[],
): Promise<{ judged: JudgedText[]; seconds: number }> {
  const { scanner: type, side, source } = evaluation;
  const scanner = createScanner(sideOf(type, side), type, paramsFor(evaluation, rows));
  try {
    await scanner.load?.();
    const start = performance.now();
    const judged = await judge(scanner, rows, source);
    return { judged, seconds: (performance.now() - start) / 1000 };
  } finally {
    await scanner.close?.();
  }
}

/** @param harmless ascending ranks of all harmless texts of the file. */
function figuresOf(
  { spans, otherwise }: Evaluation,
  outcomes: readonly (Outcome & JudgedText)[],
  harmless: Float64Array,
): Figures {
  if (spans !== undefined) return spanFigures(outcomes.map((one) => comparedSpans(one, spans)));
  if (otherwise === undefined) return binaryFigures(outcomes, harmless);
  return labelFigures(
    outcomes.map(({ row, findings }) => ({ label: row.label as string, found: topLabel(findings) ?? otherwise })),
  );
}

/** The fields by which the figures are grouped. */
export function fieldsOf(
  { by, spans }: Pick<Evaluation, "by" | "spans">,
  [first]: readonly LabelledText[],
): readonly string[] {
  const has = (field: string) => first?.fields[field] !== undefined;
  return (
    by ?? [
      ...SOURCE_FIELDS.filter(has).slice(0, 1),
      ...(spans !== undefined && has(LANGUAGE_FIELD) ? [LANGUAGE_FIELD] : []),
    ]
  );
}

/** The figures of the groups of each field. */
export function figuresByField<Item extends JudgedText>(
  outcomes: readonly Item[],
  fields: readonly string[],
  figures: (part: readonly Item[]) => Figures,
): Result["by"] {
  const ofGroups = (field: string) => groupsOf(outcomes, field).map(([value, part]) => [value, figures(part)]);
  return Object.fromEntries(fields.map((field) => [field, Object.fromEntries(ofGroups(field))]));
}

/** Outcomes by the value of a field, sorted by it. Rows without the field are left out. */
function groupsOf<Item extends JudgedText>(outcomes: readonly Item[], field: string): [string, Item[]][] {
  const groups = group(outcomes, ({ row }) => String(row.fields[field] ?? ""));
  return [...groups].filter(([value]) => value !== "").sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The label of the first finding with the highest score. */
export function topLabel(findings: readonly Finding[]): string | undefined {
  const best = findings.reduce((best, { score }) => Math.max(best, score), 0);
  return findings.find(({ score }) => score >= best)?.label;
}

/** The labelled spans of a text and the spans of the findings, of the given types. */
export function comparedSpans(
  { row, findings }: JudgedText,
  types: readonly string[],
): { spans: TypedSpan[]; found: TypedSpan[] } {
  const hasType = ({ type }: TypedSpan) => types.includes(ALL) || types.includes(type);
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
  return { spans: spans.filter(hasType), found: found.filter(hasType) };
}

function paramsFor({ params, otherwise }: Evaluation, rows: readonly LabelledText[]): Record<string, unknown> {
  const labels = [...new Set(rows.map(({ label }) => label))].filter((label) => label !== otherwise).sort();
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, value === ALL ? labels : value]));
}
