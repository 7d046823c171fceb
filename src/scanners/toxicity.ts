import { z } from "zod";
import { defineScanner } from "./define-scanner.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import { languageDifference, MODERATION, readingDifference, thresholdDifference } from "./parts/model-options.ts";
import { deobfuscateOption } from "./parts/scored-text.ts";

/**
 * The labels of llm-guard's model that count. They are the labels of Jigsaw's "Unintended Bias in Toxicity Classification" (2019).
 */
const LABELS = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit"];
/** The labels that count in prompts. Users may swear as long as nobody is attacked. */
const WITHOUT_SWEARING = LABELS.filter((label) => label !== "obscene");

export const Toxicity = defineScanner({
  type: "Toxicity",
  summary: "Blocks texts that insult, threaten, attack people for what they are, or are obscene.",
  description:
    "By default, swear words without a victim pass in prompts and fail in answers (`obscene`). `identity_attack` is hate: contempt for people " +
    "because of what they are. Naming a group is not hate, and the embedded model learned that quoting or condemning hate is not hate either. " +
    "A finding names the label, its probability and the window or sentence. By default, the whole text and its decoded views are read. " +
    "llm-guard's default was `full`, which reads the beginning only.",
  // llm-guard 0.3.16 has these thresholds.
  sides: {
    input: { threshold: 0.5, counted: WITHOUT_SWEARING },
    output: { threshold: 0.7, counted: LABELS },
  },
  options: ({ threshold, counted }) => ({
    ...labelScannerOptions(threshold, "the likeliest label", MODERATION),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        `Labels of the model that count, such as threat and insult. Default: ${counted.join(", ")}, if the model has them.`,
      ),
    deobfuscate: deobfuscateOption,
  }),
  conversation: { window: true },
  differences: [
    {
      text: "In prompts, obscene words alone do not count. llm-guard counts them. Add `obscene` to `labels` to count them.",
    },
    ...[readingDifference, thresholdDifference, languageDifference],
  ],
  findings: [{ type: "toxicity", label: "The label of the model, such as `threat`." }],
  examples: {
    passes: ["Could you please check my essay for spelling mistakes?", "The knife is too blunt to cut the tomatoes."],
    fails: ["You are a stupid idiot and everybody hates you."],
  },
  create: (build, { counted }) =>
    labelScanner(build, { labels: labelsOf("toxicity", build.options.labels, counted), finding: "toxicity" }),
});
