import { z } from "zod";
import { LONG_TEXT_STRATEGIES } from "../models/long-text-strategy.ts";
import { defineScanner } from "./define-scanner.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import { languageDifference, matchTypeOption, readingDifference, thresholdDifference } from "./parts/model-options.ts";

/** The labels that mean a refusal: of guard's own model, and of llm-guard's model. */
const LABELS = ["refusal", "rejection"];

export const NoRefusal = defineScanner({
  type: "NoRefusal",
  summary: "Fails outputs in which the model refuses to answer, by a classifier.",
  description:
    "NoRefusalLight decides by phrases instead. A refusal is often followed by advice: `sentence` finds it among other sentences. With the " +
    "default threshold of 0.55, the embedded model flags at most 1 % of ordinary answers. By default, the whole output is read. " +
    "llm-guard's defaults were 0.75 and `full`.",
  sides: { output: {} },
  options: () => ({
    ...labelScannerOptions(0.55, "a refusal"),
    matchType: z
      .preprocess((value) => (value === "all" ? "windows" : value), z.enum(LONG_TEXT_STRATEGIES))
      .default("windows")
      .describe(`${matchTypeOption.description} all: the same as windows.`)
      .meta({
        typescript: `${LONG_TEXT_STRATEGIES.map((name) => JSON.stringify(name)).join(" | ")} | "all"`,
        jsonSchema: { enum: [...LONG_TEXT_STRATEGIES, "all"] },
      }),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        "Labels of the model that mean a refusal. The likeliest one counts, or their sum if they exclude each other. " +
          `Default: ${LABELS.join(" or ")}.`,
      ),
  }),
  differences: [
    {
      without: ["threshold"],
      text: "The threshold is 0.55 (0.75 in llm-guard), which was measured for the embedded model.",
    },
    readingDifference,
    thresholdDifference,
    languageDifference,
  ],
  findings: [{ type: "refusal", label: "The label of the model: `refusal`." }],
  examples: {
    passes: ["Paris is the capital of France.", "The recipe does not need any eggs."],
    fails: ["I'm sorry, but I can't help you with that request."],
  },
  create: (build) =>
    labelScanner(build, { labels: labelsOf("refusal", build.options.labels, LABELS), finding: "refusal" }),
});
