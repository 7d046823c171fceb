import { writeFile } from "node:fs/promises";
import { type Command, lineWidth, parse, print } from "./command.ts";
import { checkLabels, checkSpanTypes, labelledNotes, readLabelled } from "./eval/labelled.ts";
import type { Measurement } from "./eval/measure.ts";
import { type EvalValues, evalOptions } from "./eval/options.ts";
import { columnNotes, plainTables } from "./eval/tables.ts";
import { type EvaluationTask, fileTask, suiteTasks } from "./eval/tasks.ts";

const fileUsage = `FILE --scanner NAME [--side SIDE] [--params JSON] [--positive LABEL ... | --negative LABEL ... | --otherwise LABEL | --spans TYPE ...] [--by FIELD ...] [--failures FILE] [--junit FILE] [--json] [--out FILE]`;
const suiteUsage = `--suite FILE [--data DIR] [--only NAME ...] [--failures FILE] [--junit FILE] [--json] [--out FILE]`;

/** `guard-scan eval`: measures scanners on labelled texts. */
export const evaluate: Command = {
  name: "eval",
  summary: "Measures scanners on labelled texts.",
  usage: `guard-scan eval ${fileUsage}\n       guard-scan eval ${suiteUsage}`,
  options: evalOptions,
  notes: `${labelledNotes}

${columnNotes}

A suite is a YAML file with a list evaluations. Each has scanner, side, params, file, by (fields to group by), and one of
  positives: [LABEL ...]   texts with these labels should fail, the others pass
  negatives: [LABEL ...]   texts with these labels should pass, the others fail
  otherwise: LABEL         compare labels, as with --otherwise
  spans: ALL | [TYPE ...]  compare spans, as with --spans`,
  async run(args) {
    const { values, positionals } = parse(evalOptions, args);
    await runTasks(await readTasks(positionals, values), values);
    return 0;
  },
};

/** The evaluations that the command line asks for. */
export async function readTasks(files: readonly string[], values: EvalValues): Promise<EvaluationTask[]> {
  return values.suite === undefined ? [await fileTask(files, values)] : suiteTasks(files, values);
}

/** Runs evaluations one after another, prints the figures of each, and writes those of all as JSON if the options ask for it. */
export async function runTasks(tasks: readonly EvaluationTask[], values: EvalValues): Promise<Measurement[]> {
  const { measure } = await import("./eval/measure.ts");
  const { checkFailuresName, writeFailures, writeJUnit } = await import("./eval/failures.ts");
  if (values.failures !== undefined) checkFailuresName(values.failures);
  const measurements: Measurement[] = [];
  for (const { evaluation, path } of tasks) {
    const { scanner, spans, otherwise } = evaluation;
    const rows = await readLabelled(path, scanner, values, spans === undefined ? "label" : "spans");
    if (spans !== undefined) checkSpanTypes(path, rows, spans);
    else if (otherwise === undefined) checkLabels(path, rows, evaluation);
    const measurement = await measure(evaluation, rows);
    measurements.push(measurement);
    if (!values.json) await print(plainTables(measurement.result, lineWidth()));
  }
  const results = measurements.map(({ result }) => result);
  const json = `${JSON.stringify(results, null, 2)}\n`;
  if (values.json) await print(json);
  if (values.out !== undefined) await writeFile(values.out, json);
  if (values.failures !== undefined) await writeFailures(values.failures, measurements);
  if (values.junit !== undefined) await writeJUnit(values.junit, measurements);
  return measurements;
}
