import { z } from "zod";
import { defineScanner } from "./define.ts";
import { deobfuscateOption } from "./parts/disguises.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import { ofLanguages, ofReading, ofThreshold } from "./parts/model-options.ts";

/**
 * The labels of llm-guard's model that count. They are the labels of Jigsaw's "Unintended Bias in Toxicity Classification" (2019).
 */
const LABELS = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit"];

export const Toxicity = defineScanner({
  type: "Toxicity",
  summary: "Blocks texts that insult, threaten, attack people for what they are, or are obscene.",
  description:
    "A finding names the label, its probability and the window or sentence. By default all of a text is read, and what it hides " +
    "besides; llm-guard's default was `full`, which looks at the beginning only.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: 0.5 }, output: { threshold: 0.7 } },
  options: ({ threshold }) => ({
    ...labelScannerOptions(threshold, "the likeliest label"),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        `Labels of the model that count, such as threat and insult. Default: those of ${LABELS.join(", ")} that it has.`,
      ),
    deobfuscate: deobfuscateOption,
  }),
  conversation: { window: true },
  differences: [ofReading, ofThreshold, ofLanguages],
  findings: [{ type: "toxicity", label: "The label of the model, such as `threat`." }],
  examples: {
    passes: ["Could you please check my essay for spelling mistakes?", "The knife is too blunt to cut the tomatoes."],
    fails: ["You are a stupid idiot and everybody hates you."],
  },
  create: (build) =>
    labelScanner(build, { labels: labelsOf("toxicity", build.options.labels, LABELS), finding: "toxicity" }),
});
