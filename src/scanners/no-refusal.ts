import { z } from "zod";
import { LONG_TEXT_STRATEGIES } from "../models/long-text-strategy.ts";
import { defineScanner } from "./define-scanner.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import {
  languageDifference,
  MULTITASK,
  matchTypeOption,
  readingDifference,
  thresholdDifference,
} from "./parts/model-options.ts";
import { refusalPhrases } from "./parts/refusal-phrases.ts";

/** The labels that mean a refusal: of guard's own model, and of llm-guard's model. */
const LABELS = ["refusal", "rejection"];
/**
 * The maximum length, in UTF-16 code units, of an answer that is also searched for phrases. The model misses many refusals of one plain
 * sentence. Other answers of this length rarely contain such a phrase: 7 of 4,250 held-out ones do.
 */
const SHORT_ANSWER = 120;

export const NoRefusal = defineScanner({
  type: "NoRefusal",
  summary: "Fails outputs in which the model refuses to answer, by a classifier.",
  description:
    "NoRefusalLight decides by phrases alone. With the embedded model, NoRefusal uses these phrases too, for answers of up to 120 characters " +
    "that are not streamed. A refusal is often followed by advice: `sentence` finds it among other sentences. With the default threshold " +
    "of 0.55, the embedded model flags at most 2 % of ordinary answers. By default, the whole output is read. " +
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
  create(build) {
    const { model, labels } = build.options;
    const body = labelScanner(build, { labels: labelsOf("refusal", labels, LABELS), finding: "refusal" });
    if (model !== MULTITASK) return body;
    const findPhrases = refusalPhrases();
    return {
      ...body,
      async check(text, context) {
        const verdict = await body.check(text, context);
        // A part of a stream may be short although the answer is long.
        if (!verdict.isValid || text.length > SHORT_ANSWER || context.arriving) return verdict;
        const byPhrase = await findPhrases(text, context);
        if (byPhrase.isValid) return verdict;
        return { ...byPhrase, probability: 1, ...(verdict.coverage ? { coverage: verdict.coverage } : {}) };
      },
    };
  },
});
