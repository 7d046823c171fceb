import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Command, parse, UsageError } from "../src/cli/command.ts";
import type { Measurement } from "../src/cli/eval/measure.ts";
import type { BinaryFigures } from "../src/cli/eval/metrics.ts";
import { evalOptions } from "../src/cli/eval/options.ts";
import { suiteTasks } from "../src/cli/eval/tasks.ts";
import { evaluate, readTasks, runTasks } from "../src/cli/eval.ts";
import { readChoices } from "../src/cli/scanner-choices.ts";
import { checkCard, modelFolderOf, writeCard } from "./cards/model-card.ts";
import { reliabilityPlot, rocPlot } from "./plots.ts";

const options = {
  ...evalOptions,
  "write-cards": {
    type: "boolean",
    help: "write evaluation.json and the tables of CARD.md beside the models of a suite; runs all evaluations of these models",
  },
  svg: { type: "string", value: "DIR", help: "write ROC curves and reliability diagrams to a folder" },
} as const;

/** `guard-scan eval` with the options that developers of guard need besides. */
export const evaluateModels: Command = {
  name: "eval",
  summary: "Measures scanners like guard-scan eval, and writes the cards of their models, or plots.",
  usage:
    "npm run tool -- eval FILE --scanner NAME [--svg DIR] [...]\n       npm run tool -- eval --suite FILE [--write-cards] [--svg DIR] [...]",
  options,
  notes: `${evaluate.notes}
  curve: true              --write-cards measures the model's curve of false positives on the harmless texts
  curve: {FIELD: [VALUE]}  the same on some of the harmless texts
threshold: {fpr: 0.001} of a scanner is looked up in the curve of its model.`,
  async run(args) {
    const { values, positionals, tokens } = parse(options, args);
    const writesCards = values["write-cards"] === true;
    if (writesCards && values.suite === undefined) throw new UsageError("--write-cards belongs to --suite");
    const tasks = writesCards
      ? await suiteTasks(positionals, values, withWholeModels)
      : await readTasks(positionals, values, readChoices(tokens));
    const measurements = await runTasks(tasks, values);
    if (values.svg !== undefined) await writePlots(values.svg, measurements);
    if (writesCards) writeCards(measurements);
    return 0;
  },
};

type Evaluation = Measurement["evaluation"];

/** Adds all evaluations of the selected models: a card is written as a whole. */
function withWholeModels(selected: readonly Evaluation[], all: readonly Evaluation[]): Evaluation[] {
  const folders = new Set(selected.flatMap((evaluation) => modelFolderOf(evaluation) ?? []));
  // Checked now, because the evaluations take long.
  for (const folder of folders) checkCard(folder);
  return all.filter((evaluation) => selected.includes(evaluation) || folders.has(modelFolderOf(evaluation) ?? ""));
}

/** Writes the plots of evaluations in which texts pass or fail. Evaluations that compare labels or spans have none. */
async function writePlots(folder: string, measurements: readonly Measurement[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const taken = new Set<string>();
  for (const { result, outcomes } of measurements) {
    const { auc, ece } = result.all as BinaryFigures;
    const title = `${result.name} (${result.side})`;
    const base = `${result.name}-${result.side}`.toLowerCase().replace(/[^a-z0-9.]+/g, "-");
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
    taken.add(name);
    const plots = {
      roc: auc === undefined ? undefined : rocPlot(title, outcomes, auc),
      reliability: ece === undefined ? undefined : reliabilityPlot(title, outcomes, ece),
    };
    for (const [kind, plot] of Object.entries(plots)) {
      if (plot) await writeFile(join(folder, `${name}.${kind}.svg`), plot);
    }
  }
}

function writeCards(measurements: readonly Measurement[]): void {
  const byFolder = new Map<string, Measurement[]>();
  for (const measurement of measurements) {
    const folder = modelFolderOf(measurement.evaluation);
    if (folder !== undefined) byFolder.set(folder, [...(byFolder.get(folder) ?? []), measurement]);
  }
  for (const [folder, ofModel] of byFolder) {
    for (const path of writeCard(folder, ofModel)) process.stderr.write(`wrote ${path}\n`);
  }
}
