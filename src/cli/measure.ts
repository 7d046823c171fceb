import { group } from "d3-array";
import { z } from "zod";
import type { Scanner, Side } from "../scanner.ts";
import { createScanner, scannerClasses } from "../scanners/registry.ts";
import { UsageError } from "./command.ts";
import { type LabelledText, positiveBy } from "./labelled.ts";
import {
  type BinaryFigures,
  binaryFigures,
  type LabelFigures,
  labelFigures,
  type Outcome,
  ranksOf,
} from "./metrics.ts";
import { Progress } from "./progress.ts";

/** Texts that are scanned at a time, as a busy server would. */
const CONCURRENCY = 16;
/** In `params`, this word as the value of an option means every label of the file, but for that of `otherwise`. */
const ALL = "ALL";
/** The fields that say where a text is from, where none are named. */
const SOURCE_FIELDS = ["source", "set"];

/** What is measured: a scanner on a file of labelled texts. */
export const evaluationSchema = z.strictObject({
  name: z.string().optional(),
  scanner: z.string(),
  side: z.enum(["input", "output"]).optional(),
  params: z.record(z.string(), z.unknown()).default({}),
  file: z.string(),
  positives: z.array(z.string()).optional(),
  negatives: z.array(z.string()).optional(),
  otherwise: z.string().optional(),
  by: z.union([z.string().transform((field) => [field]), z.array(z.string())]).optional(),
  /** For the model's curve of false positives: `true` for all harmless texts, or the values that fields of theirs must have. */
  curve: z.union([z.literal(true), z.record(z.string(), z.array(z.string()))]).optional(),
});
export type Evaluation = z.output<typeof evaluationSchema>;

/** The figures of one scanner on one file. */
export interface Result {
  name: string;
  scanner: string;
  side: Side;
  params: Record<string, unknown>;
  file: string;
  textsPerSecond: number;
  all: BinaryFigures | LabelFigures;
  /** Figures by the values of fields: `{ set: { chat: {...} } }`. */
  by: Record<string, Record<string, BinaryFigures | LabelFigures>>;
}

/** What a scanner said of a text. */
export interface Judged extends Omit<Outcome, "positive"> {
  row: LabelledText;
  /** The label of the surest finding. */
  found?: string;
}

/** The figures, and what they come from; nothing passes or fails where labels are compared. */
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

/** Scans texts, many at a time. The order of the result is that of the rows. */
export async function judge(scanner: Scanner, rows: readonly LabelledText[]): Promise<Judged[]> {
  await scanner.load?.();
  const progress = new Progress(rows.length, false);
  const judged = new Array<Judged>(rows.length);
  let next = 0;
  const work = async () => {
    while (next < rows.length) {
      const index = next++;
      const row = rows[index] as LabelledText;
      const { isValid, score, probability, findings } = await scanner.scan(row.text, { prompt: row.prompt });
      const surest = findings.reduce<{ score: number; label?: string } | undefined>(
        (best, finding) => (best && best.score >= finding.score ? best : finding),
        undefined,
      );
      judged[index] = {
        row,
        failed: !isValid,
        score,
        ...(probability === undefined ? {} : { probability }),
        ...(surest?.label === undefined ? {} : { found: surest.label }),
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
  // Of a scanner that goes by probabilities, a text without anything to judge is as harmless as can be.
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
    judged = await judge(scanner, rows);
    seconds = (performance.now() - start) / 1000;
  } finally {
    await scanner.close?.();
  }
  const isPositive = item.otherwise === undefined ? positiveBy(item) : () => false;
  const outcomes = judged.map((one) => ({ ...one, positive: isPositive(one.row) }));
  const harmless = ranksOf(outcomes, false);
  const figures = (part: readonly (Outcome & Judged)[]) =>
    item.otherwise === undefined
      ? binaryFigures(part, harmless)
      : labelFigures(
          part.map(({ row, found = item.otherwise }) => ({ label: row.label as string, found: found as string })),
        );
  const fields = item.by ?? SOURCE_FIELDS.filter((field) => rows[0]?.fields[field] !== undefined).slice(0, 1);
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

function paramsFor({ params, otherwise }: Evaluation, rows: readonly LabelledText[]): Record<string, unknown> {
  const labels = [...new Set(rows.map(({ label }) => label))].filter((label) => label !== otherwise).sort();
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, value === ALL ? labels : value]));
}
