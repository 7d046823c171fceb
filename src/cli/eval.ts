import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { load } from "js-yaml";
import { z } from "zod";
import { parseOptions } from "../support/options.ts";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { checkLabels, checkSpanTypes, labelledNotes, labelledOptions, readLabelled } from "./labelled.ts";
import type { Evaluation, Measurement } from "./measure.ts";
import type { BinaryFigures } from "./metrics.ts";
import { readParams } from "./params.ts";
import { columnNotes, plainTables } from "./tables.ts";

const options = {
  ...labelledOptions,
  otherwise: {
    type: "string",
    value: "LABEL",
    help: "labels are compared: that of the surest finding, or LABEL, should be the text's",
  },
  spans: {
    type: "string",
    multiple: true,
    value: "TYPE",
    help: "spans are compared: those of findings of this type should be the text's spans; ALL: of every type; may be repeated",
  },
  by: {
    type: "string",
    multiple: true,
    value: "FIELD",
    help: "figures by this field too; default: source or set, and lang with --spans",
  },
  suite: { type: "string", value: "FILE", help: "YAML file that says what to measure, instead of a file of texts" },
  data: { type: "string", value: "DIR", help: "folder with the files that a suite names; default: GUARD_EVAL_DATA" },
  only: {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "of a suite, only this evaluation or scanner; may be repeated",
  },
  "write-cards": {
    type: "boolean",
    help: "writes evaluation.json and the tables of CARD.md of the suite's models beside them, for which all evaluations of these models run",
  },
  json: { type: "boolean", help: "print JSON" },
  out: { type: "string", value: "FILE", help: "write JSON to a file" },
  svg: { type: "string", value: "DIR", help: "write ROC curves and reliability diagrams to a folder" },
} as const;

type Values = ReturnType<typeof parse<typeof options>>["values"];

/** An evaluation, and the path of the file with its texts. */
interface Task {
  item: Evaluation;
  path: string;
}

/** `guard eval`: how good scanners are on labelled texts. */
export const evaluate: Command = {
  name: "eval",
  summary: "Measures scanners on labelled texts.",
  usage: `guard eval FILE --scanner NAME [--side SIDE] [--params JSON] [--positive LABEL ... | --negative LABEL ... | --otherwise LABEL | --spans TYPE ...] [--by FIELD ...]
       guard eval --suite FILE [--data DIR] [--only NAME ...] [--write-cards]
       both: [--json] [--out FILE] [--svg DIR]`,
  options,
  notes: `${labelledNotes}

${columnNotes}

A suite has a list evaluations: scanner, side, params, file, by (fields to group by), and one of
  positives: [LABEL ...]   texts with these labels should fail, the others pass
  negatives: [LABEL ...]   texts with these labels should pass, the others fail
  otherwise: LABEL         labels are compared, as with --otherwise
  spans: ALL | [TYPE ...]  spans are compared, as with --spans
With curve: true, --write-cards measures the model's curve of false positives on the harmless texts, with curve: {FIELD: [VALUE ...]}
on some of them; it is what threshold: {fpr: 0.001} of a scanner is looked up in.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [file, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const tasks = values.suite === undefined ? [await fileTask(file, values)] : await suiteTasks(file, values);
    const { measure } = await import("./measure.ts");
    const done: (Measurement & { item: Evaluation })[] = [];
    for (const { item, path } of tasks) {
      const rows = await readLabelled(path, item.scanner, values, item.spans === undefined ? "label" : "spans");
      if (item.spans !== undefined) checkSpanTypes(path, rows, item.spans);
      else if (item.otherwise === undefined) checkLabels(path, rows, item);
      const measurement = await measure(item, rows);
      done.push({ ...measurement, item });
      if (!values.json) await print(plainTables(measurement.result, lineWidth()));
    }
    const json = `${JSON.stringify(
      done.map(({ result }) => result),
      null,
      2,
    )}\n`;
    if (values.json) await print(json);
    if (values.out !== undefined) await writeFile(values.out, json);
    if (values.svg !== undefined) await writePlots(values.svg, done);
    if (values["write-cards"]) await writeCards(done);
    return 0;
  },
};

async function fileTask(file: string | undefined, values: Values): Promise<Task> {
  if (file === undefined) throw new UsageError("give a file of labelled texts and --scanner, or --suite");
  const only = (["data", "only", "write-cards"] as const).find((name) => values[name] !== undefined);
  if (only)
    throw new UsageError(`--${only} belongs to --suite${only === "data" ? "; the file of texts stands alone" : ""}`);
  const { scanner, side, otherwise, spans, positive: positives, negative: negatives, by } = values;
  if (scanner === undefined) throw new UsageError("--scanner is missing: what to measure");
  if ([positives, negatives, otherwise, spans].filter(Boolean).length > 1) {
    throw new UsageError("give one of --positive, --negative, --otherwise, --spans");
  }
  const { sideOf } = await import("./measure.ts");
  const item = {
    scanner,
    side: sideOf(scanner, side),
    params: values.params === undefined ? {} : readParams(scanner, values.params),
    file: basename(file),
    positives,
    negatives,
    otherwise,
    spans,
    by,
  };
  return { item, path: file };
}

async function suiteTasks(file: string | undefined, values: Values): Promise<Task[]> {
  if (file !== undefined) throw new UsageError(`unexpected argument ${file}: a suite names its files`);
  const ofFiles = [...Object.keys(labelledOptions), "otherwise", "spans", "by"] as (keyof Values)[];
  const other = ofFiles.find((name) => values[name] !== undefined);
  if (other) throw new UsageError(`--${other} does not go with --suite, which says it for each evaluation`);
  const folder = values.data ?? process.env.GUARD_EVAL_DATA;
  if (!folder) throw new UsageError("give --data or set GUARD_EVAL_DATA: the folder with the labelled texts");
  const suite = values.suite as string;
  const { make, evaluations } = await readSuite(suite);
  const only = values.only ?? [];
  let chosen = evaluations.filter(
    ({ name, scanner }) => only.length === 0 || only.includes(scanner) || (name !== undefined && only.includes(name)),
  );
  if (chosen.length === 0) throw new UsageError(`${suite} has no evaluation ${only.join(", ")}`);
  if (values["write-cards"]) {
    // A card is written as a whole, so that everything of its model has to be measured.
    const { cardPlace, modelFolderOf } = await import("./cards.ts");
    const folders = new Set(chosen.flatMap((item) => modelFolderOf(item) ?? []));
    for (const place of folders) cardPlace(place);
    chosen = evaluations.filter((item) => chosen.includes(item) || folders.has(modelFolderOf(item) ?? ""));
  }
  const missing = [...new Set(chosen.map((item) => item.file))].filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) {
    throw new UsageError(
      `${folder} has no ${missing.join(", ")}${make ? `\nThe suite says how to make the files: ${make}` : ""}`,
    );
  }
  return chosen.map((item) => ({ item, path: join(folder, item.file) }));
}

async function readSuite(path: string): Promise<{ make?: string | undefined; evaluations: Evaluation[] }> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new UsageError(`--suite: ${error.message}`);
  });
  const { evaluationSchema } = await import("./measure.ts");
  const evaluation = evaluationSchema
    .refine(
      ({ positives, negatives, otherwise, spans }) =>
        [positives, negatives, otherwise, spans].filter((key) => key).length === 1,
      "expected one of: positives, negatives (labels of texts that should fail, or pass), otherwise (labels are compared), spans (spans are compared)",
    )
    .refine(
      ({ curve, positives, negatives }) => !curve || positives || negatives,
      "a curve needs positives or negatives",
    );
  const schema = z.strictObject({ make: z.string().optional(), evaluations: z.array(evaluation).min(1) });
  return parseOptions(schema, load(text), "snake_case");
}

/** Writes the plots of evaluations in which texts pass or fail. Evaluations that compare labels or spans have no plots. */
async function writePlots(folder: string, done: readonly Measurement[]): Promise<void> {
  const { reliabilityPlot, rocPlot } = await import("./plots.ts");
  await mkdir(folder, { recursive: true });
  const taken = new Set<string>();
  for (const { result, outcomes } of done) {
    const { auc, ece } = result.all as BinaryFigures;
    const title = `${result.name} (${result.side})`;
    const plain = `${result.name}-${result.side}`.toLowerCase().replace(/[^a-z0-9.]+/g, "-");
    let slug = plain;
    for (let count = 2; taken.has(slug); count++) slug = `${plain}-${count}`;
    taken.add(slug);
    const plots = {
      roc: auc === undefined ? undefined : rocPlot(title, outcomes, auc),
      reliability: ece === undefined ? undefined : reliabilityPlot(title, outcomes, ece),
    };
    for (const [kind, plot] of Object.entries(plots)) {
      if (plot) await writeFile(join(folder, `${slug}.${kind}.svg`), plot);
    }
  }
}

async function writeCards(done: readonly (Measurement & { item: Evaluation })[]): Promise<void> {
  const { modelFolderOf, writeCard } = await import("./cards.ts");
  const byFolder = new Map<string, (Measurement & { item: Evaluation })[]>();
  for (const one of done) {
    const folder = modelFolderOf(one.item);
    if (folder !== undefined) byFolder.set(folder, [...(byFolder.get(folder) ?? []), one]);
  }
  for (const [folder, measured] of byFolder) {
    for (const path of writeCard(folder, measured)) process.stderr.write(`wrote ${path}\n`);
  }
}
