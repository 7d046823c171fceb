import { columns } from "../layout.ts";
import type { Figures, Result } from "./measure.ts";
import type { BinaryFigures, SpanFigures } from "./metrics.ts";

type Column = Exclude<keyof BinaryFigures | keyof SpanFigures, "types">;

const COLUMNS: readonly [string, Column][] = [
  ["ROWS", "rows"],
  ["SPANS", "spans"],
  ["FOUND", "found"],
  ["POSITIVE", "positives"],
  ["ACCURACY", "accuracy"],
  ["PRECISION", "precision"],
  ["RECALL", "recall"],
  ["F1", "f1"],
  ["FPR", "falsePositives"],
  ["AUC", "auc"],
  ["R@1%", "recallAt1In100"],
  ["R@0.1%", "recallAt1In1000"],
  ["ECE", "ece"],
];
/** Columns of counts; the others are shares. */
const COUNTS: readonly Column[] = ["rows", "positives", "spans", "found"];

/** Explains the columns for the help. */
export const columnNotes = `Figures are in percent.
  FPR           share of the harmless texts that fail
  AUC           chance that a text that should fail has a higher probability than a harmless one; ties count half (Mann and Whitney)
  R@1%, R@0.1%  recall at the threshold at which at most that share of the harmless texts fails
  ECE           expected calibration error over ten bins of the same width (Naeini and others 2015)
In the row of a group, AUC and R@ compare its texts with the harmless texts of the whole file. Scanners without a probability are ranked
by their risk score and have no ECE. An empty cell has no texts, or too few.
With spans, SPANS should be found and FOUND were found. A span is correct if its start, end and type are (as in CoNLL-2003).`;

/** The cells of a table for each field: first the titles, last the figures of all texts. */
export function figureCells({ all, by }: Pick<Result, "all" | "by">): string[][][] {
  const shown = COLUMNS.filter(([, key]) => key in all);
  const row = (name: string, figures: Figures) => [
    name,
    ...shown.map(([, key]) => {
      const value = (figures as Partial<Record<Column, number>>)[key];
      if (value === undefined) return "";
      return COUNTS.includes(key) ? String(value) : (value * 100).toFixed(2);
    }),
  ];
  const rows = (name: string, figures: Figures) => [
    row(name, figures),
    ...Object.entries("types" in figures ? figures.types : {}).map(([type, some]) => row(`${name} ${type}`, some)),
  ];
  const titles = shown.map(([title]) => title);
  const fields = Object.entries(by);
  return (fields.length > 0 ? fields : [["", {}] as const]).map(([field, groups]) => [
    [field.toUpperCase(), ...titles],
    ...Object.entries(groups).flatMap(([name, figures]) => rows(name, figures)),
    ...rows("all", all),
  ]);
}

/** The name and the side of a result: `Toxicity (input)`. */
export function resultTitle({ name, side }: Result): string {
  return `${name} (${side})`;
}

/** The figures for a terminal with lines of `width` characters. */
export function plainTables(result: Result, width?: number): string {
  const tables = figureCells(result);
  const widest = Math.max(...tables.flat().map(([name = ""]) => name.length));
  const numbers = (tables[0]?.[0] ?? []).map((_, column) => column).slice(1);
  // All tables have the same columns and are aligned with each other.
  const rows = tables.flatMap((table, index) => {
    const [[first = "", ...titles] = [], ...others] = table;
    return [...(index > 0 ? [[]] : []), [first.padEnd(widest), ...titles], ...others];
  });
  return `${resultTitle(result)}, ${result.file}: ${result.textsPerSecond} texts/s\n${columns(rows, { width, right: numbers })}\n`;
}
