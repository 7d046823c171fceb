import { createReadStream, existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { load } from "js-yaml";
import { z } from "zod";
import { isRecord } from "../is-record.ts";
import { parseOptions } from "../options.ts";
import type { Scanner } from "../scanner.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import { decode, linesOf } from "./lines.ts";
import { type BinaryFigures, binaryFigures, type LabelFigures, labelFigures } from "./metrics.ts";
import { Progress } from "./progress.ts";

/** Texts that are scanned at a time, as a busy server would. */
const CONCURRENCY = 16;
/** In `params`, this word as the value of an option means every label of the file, but for that of `otherwise`. */
const ALL = "ALL";

const options = {
  suite: { type: "string", value: "FILE", help: "YAML file that says what to measure" },
  data: { type: "string", value: "DIR", help: "folder with the files of labelled texts; default: GUARD_EVAL_DATA" },
  only: { type: "string", multiple: true, value: "NAME", help: "only this evaluation or scanner; may be repeated" },
  json: { type: "boolean", help: "print JSON" },
} as const;

const evaluation = z
  .strictObject({
    name: z.string().optional(),
    scanner: z.string(),
    side: z.enum(["input", "output"]).default("input"),
    params: z.record(z.string(), z.unknown()).default({}),
    file: z.string(),
    positives: z.array(z.string()).optional(),
    negatives: z.array(z.string()).optional(),
    otherwise: z.string().optional(),
    by: z.string().optional(),
  })
  .refine(
    ({ positives, negatives, otherwise }) => [positives, negatives, otherwise].filter((key) => key).length === 1,
    "expected one of: positives, negatives (labels of texts that should fail, or pass), otherwise (labels are compared)",
  );
type Evaluation = z.output<typeof evaluation>;

const suiteSchema = z.strictObject({ make: z.string().optional(), evaluations: z.array(evaluation).min(1) });

interface Row {
  text: string;
  label: string;
  prompt: string;
  group: string;
}

interface Result {
  name: string;
  side: string;
  file: string;
  textsPerSecond: number;
  all: BinaryFigures | LabelFigures;
  groups: Record<string, BinaryFigures | LabelFigures>;
}

/** `guard eval`: how good scanners are on labelled texts. */
export const evaluate: Command = {
  name: "eval",
  summary: "Measures scanners on labelled texts.",
  usage: "guard eval --suite FILE [--data DIR] [--only NAME ...] [--json]",
  options,
  notes: `The suite has a list evaluations: scanner, side, params, file, by (a field to group by), and one of
  positives: [LABEL ...]   texts with these labels should fail, the others pass
  negatives: [LABEL ...]   texts with these labels should pass, the others fail
  otherwise: LABEL         the label of the surest finding should be that of the text, and LABEL where nothing is found
A file has one JSON object a line, with text, label and, for the output side, prompt; .gz is unpacked.
AUC is that of risk scores, which are rounded to one decimal.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    if (values.suite === undefined) throw new UsageError("--suite is missing: the file that says what to measure");
    const folder = values.data ?? process.env.GUARD_EVAL_DATA;
    if (!folder) throw new UsageError("give --data or set GUARD_EVAL_DATA: the folder with the labelled texts");
    const { make, evaluations } = await readSuite(values.suite);
    const only = values.only ?? [];
    const chosen = evaluations.filter((item) => only.length === 0 || only.some((name) => namesOf(item).includes(name)));
    if (chosen.length === 0) throw new UsageError(`${values.suite} has no evaluation ${only.join(", ")}`);
    const missing = [...new Set(chosen.map(({ file }) => file))].filter((file) => !existsSync(join(folder, file)));
    if (missing.length > 0) {
      throw new UsageError(
        `${folder} has no ${missing.join(", ")}${make ? `\nThe suite says how to make the files: ${make}` : ""}`,
      );
    }
    const { createScanner } = await import("../scanners/registry.ts");
    const results: Result[] = [];
    for (const item of chosen) {
      const rows = await readRows(join(folder, item.file), item.by);
      const scanner = createScanner(item.side, item.scanner, paramsFor(item, rows));
      try {
        results.push(await measure(item, scanner, rows));
      } finally {
        await scanner.close?.();
      }
      if (!values.json) await print(table(results.at(-1) as Result));
    }
    if (values.json) await print(`${JSON.stringify(results, null, 2)}\n`);
    return 0;
  },
};

async function readSuite(path: string): Promise<z.output<typeof suiteSchema>> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new UsageError(`--suite: ${error.message}`);
  });
  return parseOptions(suiteSchema, load(text), "snake_case");
}

function namesOf({ name, scanner }: Evaluation): string[] {
  return name ? [name, scanner] : [scanner];
}

async function readRows(path: string, by: string | undefined): Promise<Row[]> {
  const file = createReadStream(path);
  const rows: Row[] = [];
  for await (const { number, bytes } of linesOf(path.endsWith(".gz") ? file.pipe(createGunzip()) : file)) {
    if (bytes.length === 0) continue;
    const bad = (message: string) => new UsageError(`${path}, line ${number}: ${message}`);
    let value: unknown;
    try {
      value = JSON.parse(decode(bytes));
    } catch {
      throw bad("not JSON");
    }
    if (!isRecord(value) || typeof value.text !== "string" || typeof value.label !== "string") {
      throw bad("expected an object with text and label");
    }
    const { text, label, prompt } = value;
    rows.push({
      text,
      label,
      prompt: typeof prompt === "string" ? prompt : "",
      group: by ? String(value[by] ?? "") : "",
    });
  }
  if (rows.length === 0) throw new UsageError(`${path} has no rows`);
  return rows;
}

function paramsFor({ params, otherwise }: Evaluation, rows: readonly Row[]): Record<string, unknown> {
  const labels = [...new Set(rows.map(({ label }) => label))].filter((label) => label !== otherwise).sort();
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, value === ALL ? labels : value]));
}

/** What one text came to. */
interface Scanned {
  row: Row;
  failed: boolean;
  score: number;
  found: string;
}

async function measure(item: Evaluation, scanner: Scanner, rows: readonly Row[]): Promise<Result> {
  const progress = new Progress(rows.length);
  await scanner.load?.();
  const scanned: Scanned[] = [];
  const start = performance.now();
  let next = 0;
  const work = async () => {
    while (next < rows.length) {
      const row = rows[next++] as Row;
      const { isValid, score, findings } = await scanner.scan(row.text, { prompt: row.prompt });
      const surest = findings.reduce<{ score: number; label?: string } | undefined>(
        (best, finding) => (best && best.score >= finding.score ? best : finding),
        undefined,
      );
      scanned.push({ row, failed: !isValid, score, found: surest?.label ?? item.otherwise ?? "" });
      progress.step();
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
  } finally {
    progress.clear();
  }
  const seconds = (performance.now() - start) / 1000;
  const groups = [...new Set(rows.map(({ group }) => group))].filter(Boolean).sort();
  return {
    name: item.name ?? item.scanner,
    side: item.side,
    file: item.file,
    textsPerSecond: Math.round(rows.length / seconds),
    all: figures(item, scanned),
    groups: Object.fromEntries(
      groups.map((group) => [
        group,
        figures(
          item,
          scanned.filter(({ row }) => row.group === group),
        ),
      ]),
    ),
  };
}

function figures(item: Evaluation, scanned: readonly Scanned[]): BinaryFigures | LabelFigures {
  if (item.otherwise !== undefined) {
    return labelFigures(scanned.map(({ row, found }) => ({ label: row.label, found })));
  }
  const isPositive = (label: string) => item.positives?.includes(label) ?? !item.negatives?.includes(label);
  return binaryFigures(scanned.map(({ row, failed, score }) => ({ positive: isPositive(row.label), failed, score })));
}

function table({ name, side, file, textsPerSecond, all, groups }: Result): string {
  const columns: [string, keyof BinaryFigures][] = [
    ["ROWS", "rows"],
    ["POSITIVE", "positives"],
    ["ACCURACY", "accuracy"],
    ["PRECISION", "precision"],
    ["RECALL", "recall"],
    ["F1", "f1"],
    ["FPR", "falsePositives"],
    ["AUC", "auc"],
  ];
  const shown = columns.filter(([, key]) => key in all);
  const cell = (key: string, value: unknown) =>
    typeof value !== "number" ? "" : key === "rows" || key === "positives" ? String(value) : (value * 100).toFixed(2);
  const rows = [
    ["", ...shown.map(([title]) => title)],
    ...[...Object.entries(groups), ["all", all] as const].map(([group, found]) => [
      group,
      ...shown.map(([, key]) => cell(key, (found as BinaryFigures)[key])),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((text, column) =>
        column === 0 ? text.padEnd(widths[0] as number) : text.padStart(widths[column] as number),
      )
      .join("  ")
      .trimEnd(),
  );
  return `${name} (${side}), ${file}: ${textsPerSecond} texts/s\n${lines.join("\n")}\n\n`;
}
