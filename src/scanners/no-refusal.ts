import { z } from "zod";
import { LONG_TEXT_STRATEGIES } from "../models/long-text-strategy.ts";
import { defineScanner } from "./definition.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import { matchTypeOption, ofLanguages, ofReading, ofThreshold } from "./parts/model-options.ts";

/** The labels that mean a refusal: the first is that of guard's own model, and the second is that of llm-guard's model. */
const LABELS = ["refusal", "rejection"];

export const NoRefusal = defineScanner({
  type: "NoRefusal",
  summary: "Fails outputs in which the model refuses to answer, as a classifier sees it.",
  description:
    "NoRefusalLight goes by phrases instead. A refusal is often followed by advice: `sentence` finds it between sentences that are " +
    "none. The default threshold is 0.55, at which the embedded model flags one ordinary answer in a hundred at most, and all of an " +
    "output is read; llm-guard's were 0.75 and `full`.",
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
        "Labels of the model that mean a refusal; of several the likeliest counts, or their sum where they exclude each other. " +
          `Default: ${LABELS.join(" or ")}.`,
      ),
  }),
  differences: [
    {
      without: ["threshold"],
      text: "The threshold is 0.55 (0.75 in llm-guard), which was measured for the embedded model.",
    },
    ofReading,
    ofThreshold,
    ofLanguages,
  ],
  findings: [{ type: "refusal", label: "The label of the model: `refusal`." }],
  examples: {
    passes: ["Paris is the capital of France.", "The recipe does not need any eggs."],
    fails: ["I'm sorry, but I can't help you with that request."],
  },
  create: (build) =>
    labelScanner(build, { labels: labelsOf("refusal", build.options.labels, LABELS), finding: "refusal" }),
});
