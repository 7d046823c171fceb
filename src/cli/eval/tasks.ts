import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { load } from "js-yaml";
import { z } from "zod";
import { parseOptions } from "../../support/options.ts";
import { UsageError } from "../command.ts";
import type { ScannerChoice } from "../suite.ts";
import { labelledOptions } from "./labelled.ts";
import type { Evaluation } from "./measure.ts";
import type { EvalValues } from "./options.ts";

/** An evaluation, and the path of its file of texts. */
export interface EvaluationTask {
  evaluation: Evaluation;
  path: string;
}

/** Adds evaluations to those that `--only` selects from a suite. */
export type ExtendSelection = (selected: readonly Evaluation[], all: readonly Evaluation[]) => Evaluation[];

/**
 * The evaluations of the one file that the command line names, one for each scanner.
 *
 * @throws UsageError for missing options and for options that exclude each other.
 */
export async function fileTasks(
  [path, more]: readonly string[],
  values: EvalValues,
  choices: readonly ScannerChoice[],
): Promise<EvaluationTask[]> {
  if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
  if (path === undefined) throw new UsageError("give a file of labelled texts and --scanner or --config, or --suite");
  const suiteOnly = (["data", "only"] as const).find((name) => values[name] !== undefined);
  if (suiteOnly) {
    throw new UsageError(
      `--${suiteOnly} belongs to --suite${suiteOnly === "data" ? "; give the path of the file" : ""}`,
    );
  }
  const { side, otherwise, spans, positive: positives, negative: negatives, by } = values;
  if (choices.length === 0) throw new UsageError("--scanner is missing: the scanner to measure; or give --config");
  if ([positives, negatives, otherwise, spans].filter(Boolean).length > 1) {
    throw new UsageError("give one of --positive, --negative, --otherwise, --spans");
  }
  if (path === "-" && choices.length > 1) {
    throw new UsageError("standard input is read once: give a file, or one --scanner");
  }
  const { sideOf } = await import("./measure.ts");
  const common = { file: basename(path), positives, negatives, otherwise, spans, by };
  return choices.map(({ type: scanner, params }) => {
    const evaluation = { scanner, side: sideOf(scanner, side), params, ...common };
    return { evaluation, path };
  });
}

/**
 * The evaluations of a suite, or those of them that `--only` names.
 *
 * @param extend adds to the selected evaluations.
 * @throws UsageError for options that a suite excludes, and for files that are missing.
 */
export async function suiteTasks(
  [unexpected]: readonly string[],
  values: EvalValues,
  extend: ExtendSelection = (selected) => [...selected],
): Promise<EvaluationTask[]> {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument ${unexpected}: a suite names its files`);
  const fileOnly = [...Object.keys(labelledOptions), "otherwise", "spans", "by"] as (keyof EvalValues)[];
  const excluded = fileOnly.find((name) => values[name] !== undefined);
  if (excluded) throw new UsageError(`--${excluded} does not go with --suite, whose evaluations have their own`);
  const suite = values.suite as string;
  const folder = values.data ?? (process.env.GUARD_EVAL_DATA || dirname(suite));
  const { make, evaluations } = await readSuite(suite);
  const only = values.only ?? [];
  const selected = evaluations.filter(
    ({ name, scanner }) => only.length === 0 || only.includes(scanner) || (name !== undefined && only.includes(name)),
  );
  if (selected.length === 0) throw new UsageError(`${suite} has no evaluation ${only.join(", ")}`);
  const extended = extend(selected, evaluations);
  const files = new Set(extended.map(({ file }) => file));
  const missing = [...files].filter((file) => !existsSync(join(folder, file)));
  if (missing.length > 0) {
    const advice = make ? `\nThe suite says how to make the files: ${make}` : "";
    throw new UsageError(`${folder} has no ${missing.join(", ")}${advice}`);
  }
  return extended.map((evaluation) => ({ evaluation, path: join(folder, evaluation.file) }));
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
