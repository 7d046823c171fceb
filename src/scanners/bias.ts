import { z } from "zod";
import { defineScanner } from "./definition.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import { ofLanguages, ofReading, ofThreshold } from "./parts/model-options.ts";

/** How many UTF-16 code units from the end of the prompt are read together with an output. They fill about half of a window. */
const PROMPT_CHARS = 512;

export const Bias = defineScanner({
  type: "Bias",
  summary: "Blocks texts that are biased: slanted wording, and sweeping judgements on groups of people.",
  description:
    "llm-guard has this scanner for outputs only, and reads the prompt and the output as one text, so that a neutral answer fails for what a slanted prompt says. Here an " +
    "output is read by itself unless `use_prompt` says otherwise; its window then holds the end of the prompt too, and parts that " +
    "hold nothing of the output do not count. All of a text is read (`windows`); llm-guard's default was `full`.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...labelScannerOptions(0.82, "bias"),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        "Labels of the model that mean bias; of several the likeliest counts, or their sum where they exclude each other. Default: biased.",
      ),
    usePrompt: z
      .boolean()
      .default(false)
      .describe(
        `For outputs, with match_type windows: reads an output behind the last ${PROMPT_CHARS} characters of its prompt, so that what these say ` +
          "counts too. false: by itself, in one pass with other scanners that share the model.",
      ),
  }),
  differences: [
    {
      text: "The threshold is 0.82 (0.7 in llm-guard), above which one ordinary answer in a hundred is with the embedded model.",
    },
    {
      without: ["usePrompt"],
      text: "The answer is read by itself. llm-guard reads its prompt too, so that what the prompt says counts against the answer; `use_prompt: true` reads the end of the prompt.",
    },
    ofReading,
    ofThreshold,
    ofLanguages,
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
      judged(text, { prompt = "" }) {
        if (!usePrompt || matchType !== "windows" || prompt.trim() === "") return { text, from: 0 };
        const before = `${prompt.slice(-PROMPT_CHARS)}\n`;
        return { text: before + text, from: before.length };
      },
    });
  },
});
