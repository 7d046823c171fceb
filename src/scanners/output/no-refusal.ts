import { z } from "zod";
import { READINGS } from "../../models/model.ts";
import { LabelScanner, labelScannerOptions } from "../shared/label-scanner.ts";
import { matchTypeOption } from "../shared/model-options.ts";

/** What models call a refusal: guard's own, and that of llm-guard. */
const LABELS = ["refusal", "rejection"];

const schema = z.strictObject({
  ...labelScannerOptions(0.91, "a refusal"),
  matchType: z
    .preprocess((value) => (value === "all" ? "windows" : value), z.enum(READINGS))
    .default("windows")
    .describe(`${matchTypeOption.description} all: the same as windows.`),
  labels: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe(
      `Labels of the model that mean a refusal; of several the likeliest counts, or their sum where they exclude each other. Default: ${LABELS.join(" or ")}.`,
    ),
});

/**
 * Fails outputs in which the model refuses to answer, as the classifier sees it; NoRefusalLight goes by phrases.
 *
 * A refusal is often followed by advice: `sentence` finds it between sentences that are none. The default threshold is 0.91, where
 * the embedded model flags one ordinary answer in a hundred at most, and all of an output is read; llm-guard's were 0.75 and `full`.
 */
export class NoRefusal extends LabelScanner<typeof schema> {
  static readonly type = "NoRefusal";
  static readonly options = schema;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    const wanted = ({ labels }: z.output<typeof schema>) => ({
      ...{ head: "refusal", option: "labels" },
      ...{ labels: labels ?? LABELS, all: labels !== undefined },
    });
    super(NoRefusal.type, schema, options, wanted, "refusal");
  }
}
