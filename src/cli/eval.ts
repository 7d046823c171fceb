import { writeFile } from "node:fs/promises";
import { type Command, lineWidth, parse, print } from "./command.ts";
import {
  checkGroupFields,
  checkLabels,
  checkLabelsOccur,
  checkSpanTypes,
  labelledNotes,
  readLabelled,
} from "./eval/labelled.ts";
import type { Measured, Measurement } from "./eval/measure.ts";
import { type EvalValues, evalOptions } from "./eval/options.ts";
import { columnNotes, plainTables } from "./eval/tables.ts";
import { type EvaluationTask, fileTasks, suiteTasks } from "./eval/tasks.ts";
import { checkOutputFile } from "./output-file.ts";
import { readChoices } from "./scanner-choices.ts";
import type { ScannerChoice } from "./suite.ts";

const fileUsage = `FILE --scanner NAME [--params JSON] ... [--side SIDE] [--positive LABEL ... | --negative LABEL ... | --otherwise LABEL | --spans TYPE ...] [--by FIELD ...] [--failures FILE] [--junit FILE] [--json] [--out FILE]`;
const configUsage = `FILE --config FILE [--side SIDE] [--positive LABEL ... | --negative LABEL ...] [--by FIELD ...] [--failures FILE] [--junit FILE] [--json] [--out FILE]`;
const suiteUsage = `--suite FILE [--data DIR] [--only NAME ...] [--failures FILE] [--junit FILE] [--json] [--out FILE]`;

/** `guard-scan eval`: measures scanners on labelled texts. */
export const evaluate: Command = {
  name: "eval",
  summary: "Measures scanners, or a whole configuration, on labelled texts.",
  usage: `guard-scan eval ${fileUsage}\n       guard-scan eval ${configUsage}\n       guard-scan eval ${suiteUsage}`,
  options: evalOptions,
  notes: `${labelledNotes}

${columnNotes}

With --config, a text fails if the configuration fails it. The row of a scanner counts the texts that it read: not those of other sources, nor, with
scan_fail_fast, those that an earlier scanner failed. A field source with user, assistant, system or tool is the source of the text.

A suite is a YAML file with a list evaluations, beside its files of texts or with --data. Each has scanner, side, params, file, by (fields to group by), and one of
  positives: [LABEL ...]   texts with these labels should fail, the others pass
  negatives: [LABEL ...]   texts with these labels should pass, the others fail
  otherwise: LABEL         compare labels, as with --otherwise; no text needs to have the label
  spans: ALL | [TYPE ...]  compare spans, as with --spans`,
  async run(args) {
    const { values, positionals, tokens } = parse(evalOptions, args);
    if (values.config === undefined) {
      await runTasks(await readTasks(positionals, values, readChoices(tokens)), values);
      return 0;
    }
    await checkResultFiles(values);
    const { measureConfiguration } = await import("./eval/configuration.ts");
    const measured = await measureConfiguration(positionals, values.config, values);
    if (!values.json) await print(plainTables(measured.result, lineWidth()));
    await writeResults([measured], values);
    return 0;
  },
};

/** The evaluations that the command line asks for. */
export async function readTasks(
  files: readonly string[],
  values: EvalValues,
  choices: readonly ScannerChoice[],
): Promise<EvaluationTask[]> {
  return values.suite === undefined ? fileTasks(files, values, choices) : suiteTasks(files, values);
}

/** Runs evaluations one after another, prints the figures of each, and writes those of all as JSON if the options ask for it. */
export async function runTasks(tasks: readonly EvaluationTask[], values: EvalValues): Promise<Measurement[]> {
  const { measure } = await import("./eval/measure.ts");
  await checkResultFiles(values);
  const measurements: Measurement[] = [];
  for (const { evaluation, path } of tasks) {
    const { scanner, spans, otherwise } = evaluation;
    const rows = await readLabelled(path, scanner, values, spans === undefined ? "label" : "spans");
    if (spans !== undefined) checkSpanTypes(path, rows, spans);
    else if (otherwise === undefined) checkLabels(path, rows, evaluation);
    // In a suite, `otherwise` may be a label that no text has: then a text without findings is always wrong.
    if (values.otherwise !== undefined) checkLabelsOccur(path, rows, [values.otherwise]);
    if (values.by !== undefined) checkGroupFields(path, rows, values.by);
    const measurement = await measure(evaluation, rows);
    measurements.push(measurement);
    if (!values.json) await print(plainTables(measurement.result, lineWidth()));
  }
  await writeResults(measurements, values);
  return measurements;
}

/** @throws UsageError for a file of results that cannot be written: the evaluation may take long. */
async function checkResultFiles(values: EvalValues): Promise<void> {
  const { checkFailuresName } = await import("./eval/failures.ts");
  for (const name of ["failures", "junit", "out"] as const) {
    const file = values[name];
    if (file !== undefined) checkOutputFile(`--${name}`, file);
  }
  if (values.failures !== undefined) checkFailuresName(values.failures);
}

/** Prints JSON and writes the files of results that the options ask for. */
async function writeResults(measured: readonly Measured[], values: EvalValues): Promise<void> {
  const { writeFailures, writeJUnit } = await import("./eval/failures.ts");
  const json = `${JSON.stringify(
    measured.map(({ result }) => result),
    null,
    2,
  )}\n`;
  if (values.json) await print(json);
  if (values.out !== undefined) await writeFile(values.out, json);
  if (values.failures !== undefined) await writeFailures(values.failures, measured);
  if (values.junit !== undefined) await writeJUnit(values.junit, measured);
}
