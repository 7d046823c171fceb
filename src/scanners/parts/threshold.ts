import { z } from "zod";
import { readEvaluation, readModelIdentity, thresholdAt } from "../../models/evaluation.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { isSetting, toSnakeCase, withoutInfluence } from "../../support/options.ts";

/** A threshold: a probability, or `fpr`, the false positive rate that it should have. */
export type Threshold = number | { fpr: number };

/** The parts of a scanner that determine its threshold. */
interface ThresholdOwner {
  readonly type: string;
  readonly schema: z.ZodObject;
  readonly options: Record<string, unknown>;
}

const threshold = () =>
  z.union(
    [
      z.number().min(0).max(1),
      z.strictObject({
        fpr: z
          .number()
          .gt(0)
          .lt(1)
          .describe("The share of harmless texts that may fail, such as 0.001 for one in a thousand."),
      }),
    ],
    { error: "expected a number from 0 to 1, or fpr, a false positive rate" },
  );

/**
 * Creates the threshold option of a scanner.
 *
 * @param value the default of the option.
 * @param what a sentence for the documentation that tells what is compared with the threshold.
 */
export function thresholdOption(value: number, what: string) {
  const schema = threshold()
    .default(value)
    .describe(
      `${what} A probability from 0 to 1, or fpr: the false positive rate that it should have on the harmless texts that the model was ` +
        "measured on (evaluation.json in the model's folder).",
    );
  return withoutInfluence(schema);
}

/** The options of scanners that can ask for the review of a person. */
export const reviewOptions = {
  reviewThreshold: withoutInfluence(
    threshold()
      .optional()
      .describe(
        "A second threshold, at which fewer texts pass: a text between the two thresholds passes this scanner, but a person should decide " +
          "about it (app.review). A probability, or fpr. Default: no text needs a review.",
      ),
  ),
};

/**
 * Returns the options that influence a scanner's probabilities, by name. A curve of false positives is valid only for the values that it
 * was measured with.
 */
export function settingsOf(schema: z.ZodObject, options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options)
      .filter(([key, value]) => isSetting(schema.shape[key] as z.ZodType | undefined) && value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/**
 * Returns the probability that a threshold stands for. A false positive rate is looked up in the model's curve: the result is the lowest
 * threshold that flagged at most that share of the harmless texts in the measurement.
 *
 * @param folder the folder of the model, or undefined if the model is not downloaded or is a single file.
 * @param option the name of the option.
 * @throws GuardValidationError with the path `<option>.fpr` if there is no curve for these options, or if the curve does not reach such a
 *   low rate.
 */
export function resolveThreshold(
  { type: scanner, schema, options }: ThresholdOwner,
  folder: string | undefined,
  option = "threshold",
): number {
  const threshold = options[option] as Threshold;
  if (typeof threshold === "number") return threshold;
  const bad = (message: string) =>
    new GuardValidationError([
      { path: `${option}.fpr`, message: `${message}; guard-scan calibrate finds the threshold for your own texts` },
    ]);
  const evaluation = folder === undefined ? undefined : readEvaluation(folder);
  const curves = evaluation?.curves.filter((curve) => curve.scanner === scanner) ?? [];
  if (folder === undefined) {
    throw bad(
      "there is no curve of false positives: the model is not downloaded (guard-scan models pull), or is a single file",
    );
  }
  if (!evaluation || curves.length === 0) {
    throw bad(`the model has no curve of false positives for ${scanner}`);
  }
  const { version = "" } = readModelIdentity(folder);
  if (version !== evaluation.model.version) {
    throw bad(`the curve was measured for version ${evaluation.model.version} of the model, which is ${version}`);
  }
  const settings = settingsOf(schema, options);
  const curve = curves.find((item) => differences(item.settings, settings).length === 0);
  if (!curve) {
    const known = curves.map((item) => differences(item.settings, settings).join(", ")).join(", or ");
    throw bad(`the model's curve for ${scanner} was measured with ${known}`);
  }
  if (threshold.fpr < 1 / curve.rows) {
    throw bad(
      `the curve was measured on ${curve.rows} texts, so ${Math.ceil(1e6 / curve.rows) / 1e6} is its lowest rate`,
    );
  }
  const found = thresholdAt(curve, threshold.fpr);
  if (found === undefined) throw bad(`the curve has no threshold at or below ${threshold.fpr}`);
  return found;
}

/**
 * Resolves an option that is a minimum: a text fails if its probability of being harmless is below it. Such scanners report the opposite
 * probability, so a minimum of 0.75 returns a threshold of 0.25. A false positive rate means the same as in {@link resolveThreshold}.
 *
 * @param option the name of the option.
 * @throws GuardValidationError with the path `<option>.fpr`, as {@link resolveThreshold} does.
 */
export function resolveMinimum(owner: ThresholdOwner, folder: string | undefined, option: string): number {
  const minimum = owner.options[option] as Threshold;
  return typeof minimum === "number" ? 1 - minimum : resolveThreshold(owner, folder, option);
}

/**
 * Resolves the option `reviewThreshold` of a scanner.
 *
 * @param threshold the resolved threshold, above which a text fails.
 * @param minimum the name of the option that is a minimum in place of a threshold.
 * @throws GuardValidationError with the path `reviewThreshold` if no text is between the two thresholds, and as {@link resolveThreshold} does.
 */
export function resolveReview(
  owner: ThresholdOwner,
  folder: string | undefined,
  threshold: number,
  minimum?: string,
): { reviewThreshold: number } | undefined {
  if (owner.options.reviewThreshold === undefined) return undefined;
  const reviewThreshold = (minimum ? resolveMinimum : resolveThreshold)(owner, folder, "reviewThreshold");
  if (reviewThreshold < threshold) return { reviewThreshold };
  const shown = (value: number) => Math.round((minimum ? 1 - value : value) * 1e6) / 1e6;
  const relation = minimum ? `above ${toSnakeCase(minimum)}` : "below threshold";
  const message = `must be ${relation}, which is ${shown(threshold)}; got ${shown(reviewThreshold)}`;
  throw new GuardValidationError([{ path: "reviewThreshold", message }]);
}

/** Lists the settings of a curve that have other values here, as written in a configuration file. */
function differences(measured: Record<string, unknown>, here: Record<string, unknown>): string[] {
  return [...new Set([...Object.keys(measured), ...Object.keys(here)])]
    .filter((key) => JSON.stringify(measured[key]) !== JSON.stringify(here[key]))
    .map((key) =>
      measured[key] === undefined ? `no ${toSnakeCase(key)}` : `${toSnakeCase(key)} ${JSON.stringify(measured[key])}`,
    );
}
