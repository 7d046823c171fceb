import { dump } from "js-yaml";
import { toSnakeCase } from "../support/options.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import { checkLabels, labelledNotes, labelledOptions, positiveBy, readLabelled } from "./eval/labelled.ts";
import type { Judged } from "./eval/measure.ts";
import { countAbove, type Outcome, ranksOf, thresholdAt, wilsonInterval } from "./eval/metrics.ts";
import { readParams } from "./params.ts";

const options = {
  ...labelledOptions,
  fpr: { type: "string", value: "RATE", help: "share of the harmless texts that may fail, such as 0.01" },
  json: { type: "boolean", help: "print JSON" },
} as const;

/** A count of texts, its share, and the 95 % interval of the true share that it is an estimate of. */
interface Share {
  count: number;
  of: number;
  share: number;
  interval: [number, number];
}

/** What a threshold does to the texts that it was made from. */
interface Calibration {
  scanner: string;
  side: string;
  /** The value of the scanner's option, which is a threshold or a minimum. */
  option: string;
  value: number;
  /** The threshold of the probability that a text fails. Where the option is a minimum, its value is 1 minus this. */
  threshold: number;
  fpr: number;
  /** Harmless texts that fail. */
  falsePositives: Share;
  /** Texts that should fail and do; absent where there are none. */
  recall?: Share;
  /** The scanner as it stands in scanners.yml. */
  yaml: string;
  warnings: string[];
}

/** `guard-scan calibrate`: the threshold for a rate of false positives on texts of the user's own. */
export const calibrate: Command = {
  name: "calibrate",
  summary: "Finds the threshold for a rate of false positives on texts of your own.",
  usage:
    "guard-scan calibrate FILE --scanner NAME --fpr RATE [--side SIDE] [--params JSON] [--positive LABEL ... | --negative LABEL ...]",
  options,
  notes: `${labelledNotes}
A file without any labels, of objects or of strings, counts as all harmless.

The threshold is the lowest at which at most that share of the harmless texts fails. Shares have 95 % intervals (Wilson 1927). By
the rule of three (Hanley and Lippman-Hand 1983) 3 / RATE harmless texts are needed to say that a rate is met: of n texts none
of which fails, up to 3 / n may fail in truth. Use texts as they come in your traffic, and other ones to check the result.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [file, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    if (file === undefined) throw new UsageError("give a file of harmless texts");
    const { scanner: type, positive: positives, negative: negatives } = values;
    if (type === undefined) throw new UsageError("--scanner is missing: what to calibrate");
    const fpr = readRate(values.fpr);
    const params = values.params === undefined ? {} : readParams(type, values.params);
    const rows = await readLabelled(file, type, values, "nothing");
    const unlabelled = rows.filter(({ label }) => label === undefined).length;
    if (unlabelled > 0 && unlabelled < rows.length) {
      throw new UsageError(`${file}: ${unlabelled} of ${rows.length} texts have no label: label all of them or none`);
    }
    if (unlabelled > 0 && (positives || negatives)) throw new UsageError(`${file} has no labels`);
    if (unlabelled === 0) checkLabels(file, rows, { positives, negatives });
    const isPositive = unlabelled > 0 ? () => false : positiveBy({ positives, negatives });

    const { judge, sideOf } = await import("./eval/measure.ts");
    const { createScanner, scannerClasses } = await import("../scanners/catalog.ts");
    const side = sideOf(type, values.side);
    // The probabilities do not depend on the threshold, so that any threshold will do for measuring them.
    const { definition, options: schema } = scannerClasses(side).get(type) ?? {};
    const key = definition?.minimum ?? "threshold";
    const option = toSnakeCase(key);
    // Parameters may be spelt as in scanners.yml or as in a program.
    const { [option]: _, [key]: __, ...others } = params;
    const scanner = createScanner(side, type, others);
    let judged: Judged[];
    try {
      judged = await judge(scanner, rows);
    } finally {
      await scanner.close?.();
    }
    if (judged[0]?.probability === undefined) {
      // An option that takes a rate of false positives is compared with a probability; thresholds of other scanners mean something else.
      const goesByOne = schema?.shape[key]?.safeParse({ fpr }).success;
      throw new UsageError(
        goesByOne
          ? `none of the texts of ${file} has anything for ${type} to judge`
          : `${type} does not go by a probability, so that there is no threshold to find`,
      );
    }
    const outcomes = judged.map((one) => ({ ...one, positive: isPositive(one.row) }));
    const result = calibration(outcomes, fpr);
    // A minimum is compared with the opposite of the probability: 0.9 of failing is 0.1 of passing.
    const value = definition?.minimum === undefined ? result.threshold : Number((1 - result.threshold).toPrecision(15));
    const yaml = dump([{ type, params: { ...others, [option]: value } }], { lineWidth: -1 });
    const answer: Calibration = { scanner: type, side, option, value, ...result, yaml };
    await print(values.json ? `${JSON.stringify(answer, null, 2)}\n` : plain(answer));
    for (const warning of answer.warnings) process.stderr.write(`guard: warning: ${warning}\n`);
    return 0;
  },
};

function readRate(text: string | undefined): number {
  if (text === undefined) throw new UsageError("--fpr is missing: the share of harmless texts that may fail");
  const rate = Number(text);
  if (text.trim() === "" || !(rate > 0 && rate < 1))
    throw new UsageError(`--fpr is a number between 0 and 1, not ${text}`);
  return rate;
}

function calibration(
  outcomes: readonly Outcome[],
  fpr: number,
): Omit<Calibration, "scanner" | "side" | "option" | "value" | "yaml"> {
  const harmless = ranksOf(outcomes, false);
  if (harmless.length === 0) throw new UsageError("the file has no harmless text");
  const positives = ranksOf(outcomes, true);
  const ranks = [harmless, positives];
  const threshold = shortest(thresholdAt(harmless, fpr), (from, to) =>
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
            `${harmless.length} harmless texts are too few for a rate of ${fpr}: at least ${needed} are needed (rule of three), so that the true rate may be higher`,
          ]
        : []),
      ...(threshold >= 1 ? ["at a threshold of 1 no text fails"] : []),
    ],
  };
}

/** The shortest decimal at or above a threshold that separates all texts in the same way: 0.42 for 0.4188, if no text lies between. */
function shortest(threshold: number, same: (from: number, to: number) => boolean): number {
  for (let digits = 2; digits <= 15; digits++) {
    const rounded = Math.ceil(threshold * 10 ** digits) / 10 ** digits;
    if (rounded >= threshold && rounded <= 1 && same(threshold, rounded)) return rounded;
  }
  return threshold;
}

function plain({ scanner, side, option, value, fpr, falsePositives, recall, yaml }: Calibration): string {
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
