import { z } from "zod";
import { defineScanner } from "./define-scanner.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import { languageDifference, readingDifference, thresholdDifference } from "./parts/model-options.ts";

/** How many UTF-16 code units from the end of the prompt are read together with an output: about half of a window. */
const PROMPT_CHARS = 512;

export const Bias = defineScanner({
  type: "Bias",
  summary: "Blocks biased texts: slanted wording, and sweeping judgements about groups of people.",
  description:
    "llm-guard has this scanner for outputs only, and reads prompt and output as one text, so a neutral answer to a slanted prompt fails. " +
    "Here an output is read by itself. With `use_prompt`, its window contains the end of the prompt too, and parts without any of the " +
    "output do not count. The whole text is read (`windows`). llm-guard's default was `full`.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...labelScannerOptions(0.82, "bias"),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        "Labels of the model that mean bias. The likeliest one counts, or their sum if they exclude each other. Default: biased.",
      ),
    usePrompt: z
      .boolean()
      .default(false)
      .describe(
        `For outputs, with match_type windows. true: reads an output together with the last ${PROMPT_CHARS} characters of its prompt, which ` +
          "count too. false: reads it by itself, in one pass with the other scanners that share the model.",
      ),
  }),
  differences: [
    {
      text: "The default threshold is 0.82 (0.7 in llm-guard). With the embedded model, 1 % of ordinary answers are above it.",
    },
    {
      without: ["usePrompt"],
      text: "The answer is read by itself. llm-guard reads the prompt too, so a biased prompt counts against the answer. `use_prompt: true` reads the end of the prompt.",
    },
    readingDifference,
    thresholdDifference,
    languageDifference,
  ],
  findings: [{ type: "bias", label: "The label of the model: `biased`." }],
  examples: {
    passes: ["The council voted on the budget on Tuesday.", "Water boils at 100 degrees Celsius at sea level."],
    fails: ["Everybody knows that these immigrants are lazy criminals who ruin our country."],
  },
  create(build) {
    const { labels, usePrompt, matchType } = build.options;
    return labelScanner(build, {
      labels: labelsOf("bias", labels, ["biased"]),
      finding: "bias",
      inputOf(text, { prompt = "" }) {
        if (!usePrompt || matchType !== "windows" || prompt.trim() === "") return { text, from: 0 };
        const before = `${prompt.slice(-PROMPT_CHARS)}\n`;
        return { text: before + text, from: before.length };
      },
    });
  },
});
