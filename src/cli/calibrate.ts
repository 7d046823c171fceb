import { dump } from "js-yaml";
import { toSnakeCase } from "../support/options.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import {
  checkLabels,
  type LabelledText,
  type Labels,
  labelledNotes,
  labelledOptions,
  positiveTest,
  readLabelled,
} from "./eval/labelled.ts";
import type { JudgedText } from "./eval/measure.ts";
import { countAbove, type Outcome, ranksOf, thresholdAt, wilsonInterval } from "./eval/metrics.ts";
import { readChoices } from "./scanner-choices.ts";

const options = {
  ...labelledOptions,
  fpr: { type: "string", value: "RATE", help: "maximum share of harmless texts that fail, such as 0.01" },
  json: { type: "boolean", help: "print JSON" },
} as const;

/** With fewer texts, the 95 % interval of a recall is wider than 30 percentage points. */
const FEW = 40;

/** A count of texts, its share, and the 95 % confidence interval of the share. */
interface Share {
  count: number;
  of: number;
  share: number;
  interval: [number, number];
}

/** A threshold, and what it does to the texts from which it was made. */
interface Calibration {
  scanner: string;
  side: string;
  /** The option of the scanner that gets the value: a threshold, or a minimum. */
  option: string;
  value: number;
  /** The threshold of the probability that a text should fail. The value of a minimum is 1 minus this. */
  threshold: number;
  fpr: number;
  /** The harmless texts that fail. */
  falsePositives: Share;
  /** The texts that should fail and do; absent if no text should fail. */
  recall?: Share;
  /** The entry of the scanner for scanners.yml. */
  yaml: string;
  warnings: string[];
}

/** `guard-scan calibrate`: finds the threshold for a rate of false positives on the user's own texts. */
export const calibrate: Command = {
  name: "calibrate",
  summary: "Finds the threshold for a rate of false positives on your own texts.",
  usage:
    "guard-scan calibrate FILE --scanner NAME --fpr RATE [--side SIDE] [--params JSON] [--positive LABEL ... | --negative LABEL ...]",
  options,
  notes: `${labelledNotes}
A file without labels, of objects or of strings, is read as all harmless.

The result is the lowest threshold at which at most that share of the harmless texts fails. Shares have 95 % confidence intervals
(Wilson 1927). By the rule of three (Hanley and Lippman-Hand 1983), 3 / RATE harmless texts are needed to show a rate: if none of n
texts fails, the true rate may still be 3 / n. Use texts from your traffic, and check the result on other ones.`,
  async run(args) {
    const { values, positionals, tokens } = parse(options, args);
    const [file, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    if (file === undefined) throw new UsageError("give a file of harmless texts");
    const [choice, other] = readChoices(tokens);
    if (choice === undefined) throw new UsageError("--scanner is missing: the scanner to calibrate");
    if (other !== undefined) throw new UsageError("give one --scanner: each needs a threshold of its own");
    const { type: scanner, params } = choice;
    const fpr = readRate(values.fpr);
    const rows = await readLabelled(file, scanner, values, "nothing");
    const isPositive = positiveRows(file, rows, { positives: values.positive, negatives: values.negative });
    const result = await calibrateScanner({ file, scanner, side: values.side, params, fpr }, rows, isPositive);
    await print(values.json ? `${JSON.stringify(result, null, 2)}\n` : calibrationText(result));
    for (const warning of result.warnings) process.stderr.write(`guard: warning: ${warning}\n`);
    return 0;
  },
};

/** Tells the texts that should fail. Without any labels all texts are harmless. */
function positiveRows(file: string, rows: readonly LabelledText[], labels: Labels): (row: LabelledText) => boolean {
  const unlabelled = rows.filter(({ label }) => label === undefined).length;
  if (unlabelled === 0) {
    checkLabels(file, rows, labels);
    return positiveTest(labels);
  }
  if (unlabelled < rows.length) {
    throw new UsageError(`${file}: ${unlabelled} of ${rows.length} texts have no label: label all of them or none`);
  }
  if (labels.positives || labels.negatives) throw new UsageError(`${file} has no labels`);
  return () => false;
}

interface CalibrationTask {
  file: string;
  scanner: string;
  side: string | undefined;
  params: Record<string, unknown>;
  fpr: number;
}

async function calibrateScanner(
  task: CalibrationTask,
  rows: readonly LabelledText[],
  isPositive: (row: LabelledText) => boolean,
): Promise<Calibration> {
  const { scanner: type, fpr } = task;
  const { judge, sideOf } = await import("./eval/measure.ts");
  const { createScanner, scannerClasses } = await import("../scanners/catalog.ts");
  const side = sideOf(type, task.side);
  const { definition, options: schema } = scannerClasses(side).get(type) ?? {};
  const key = definition?.minimum ?? "threshold";
  const option = toSnakeCase(key);
  // The probabilities do not depend on the threshold, so they are measured with the default one. Parameters may be in either case.
  const { [option]: _, [key]: __, ...params } = task.params;
  const scanner = createScanner(side, type, params);
  let judged: JudgedText[];
  try {
    judged = await judge(scanner, rows);
  } finally {
    await scanner.close?.();
  }
  if (judged[0]?.probability === undefined) {
    // Options that take a rate of false positives compare it with a probability; other thresholds mean something else.
    const usesProbability = schema?.shape[key]?.safeParse({ fpr }).success;
    if (usesProbability) throw new UsageError(`${type} judges no text of ${task.file}`);
    throw new UsageError(
      schema?.shape[key] === undefined
        ? `${type} has no probability, so there is no threshold to find`
        : `${type} has no probability that a text should fail: its ${option} applies to another value, so calibrate cannot find it`,
    );
  }
  const fitted = fitThreshold(
    judged.map((one) => ({ ...one, positive: isPositive(one.row) })),
    fpr,
  );
  // A minimum is compared with the probability of passing.
  const value = definition?.minimum === undefined ? fitted.threshold : Number((1 - fitted.threshold).toPrecision(15));
  const initial = scanner.options[key];
  if (
    typeof initial === "number" &&
    isFar(fitted.threshold, definition?.minimum === undefined ? initial : 1 - initial)
  ) {
    fitted.warnings.push(
      `the ${option} ${value} is far from the default ${initial}: look at the texts near it (guard-scan eval --failures), and check that the labels are right`,
    );
  }
  const yaml = dump([{ type, params: { ...params, [option]: value } }], { lineWidth: -1 });
  return { scanner: type, side, option, value, ...fitted, yaml };
}

function readRate(text: string | undefined): number {
  if (text === undefined) throw new UsageError("--fpr is missing: the maximum share of harmless texts that fail");
  const rate = Number(text);
  if (text.trim() === "" || !(rate > 0 && rate < 1))
    throw new UsageError(`--fpr: expected a number between 0 and 1, got ${text}`);
  return rate;
}

/** Finds the threshold for a rate of false positives, and what it does to the texts. */
function fitThreshold(
  outcomes: readonly Outcome[],
  fpr: number,
): Omit<Calibration, "scanner" | "side" | "option" | "value" | "yaml"> {
  const harmless = ranksOf(outcomes, false);
  if (harmless.length === 0) throw new UsageError("the file has no harmless text");
  const positives = ranksOf(outcomes, true);
  const ranks = [harmless, positives];
  const threshold = shortestThreshold(thresholdAt(harmless, fpr), (from, to) =>
    ranks.every((some) => countAbove(some, from) === countAbove(some, to)),
  );
  const shareAbove = (some: Float64Array): Share => {
    const count = countAbove(some, threshold);
    return { count, of: some.length, share: count / some.length, interval: wilsonInterval(count, some.length) };
  };
  const needed = Math.ceil(3 / fpr);
  return {
    threshold,
    fpr,
    falsePositives: shareAbove(harmless),
    ...(positives.length > 0 ? { recall: shareAbove(positives) } : {}),
    warnings: [
      ...(harmless.length < needed
        ? [
            `${harmless.length} harmless texts are too few for a rate of ${fpr}: at least ${needed} are needed (rule of three); the true rate may be higher`,
          ]
        : []),
      ...(positives.length > 0 && positives.length < FEW
        ? [`${positives.length} texts that should fail are too few for a recall: at least ${FEW} are needed`]
        : []),
      ...(threshold >= 1 ? ["at a threshold of 1 no text fails"] : []),
    ],
  };
}

/** Whether two thresholds differ by a factor of more than ten in the odds. */
function isFar(one: number, other: number): boolean {
  const logit = (probability: number) => Math.log(probability / (1 - probability));
  return Math.abs(logit(one) - logit(other)) > Math.log(10);
}

/** The shortest decimal at or above a threshold with the same verdicts: 0.42 for 0.4188, if no text lies between. */
function shortestThreshold(threshold: number, isSame: (from: number, to: number) => boolean): number {
  for (let digits = 2; digits <= 15; digits++) {
    const rounded = Math.ceil(threshold * 10 ** digits) / 10 ** digits;
    if (rounded >= threshold && rounded <= 1 && isSame(threshold, rounded)) return rounded;
  }
  return threshold;
}

function calibrationText({ scanner, side, option, value, fpr, falsePositives, recall, yaml }: Calibration): string {
  const percent = (value: number) => `${(value * 100).toFixed(2)} %`;
  const line = ({ count, of, share, interval: [low, high] }: Share) =>
    `${count} of ${of}: ${percent(share)} (95 % interval ${percent(low)} to ${percent(high)})`;
  return [
    `${scanner} (${side}), at most ${percent(fpr)} false positives`,
    `${option.padEnd(16)} ${value}`,
    `false positives  ${line(falsePositives)}`,
    ...(recall ? [`recall           ${line(recall)}`] : []),
    "",
    yaml,
  ].join("\n");
}
