import { z } from "zod";
import { defineScanner } from "./definition.ts";
import { deobfuscateOption } from "./parts/disguises.ts";
import { labelScanner, labelScannerOptions, labelsOf } from "./parts/label-scanner.ts";
import { ofLanguages, ofReading, ofThreshold } from "./parts/model-options.ts";

/**
 * The labels of llm-guard's model that count. They are the labels of Jigsaw's "Unintended Bias in Toxicity Classification" (2019).
 */
const LABELS = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit"];
/** Those that count in what people write: they may swear, as long as nobody is hurt by it. */
const WITHOUT_SWEARING = LABELS.filter((label) => label !== "obscene");

export const Toxicity = defineScanner({
  type: "Toxicity",
  summary: "Blocks texts that insult, threaten, attack people for what they are, or are obscene.",
  description:
    "By default, swear words without a victim pass in prompts and fail in answers (`obscene`). Who is named does not decide, but what is meant: " +
    "`identity_attack` is hate, contempt for people because of what they are; the embedded model was taught that quoting or condemning hate is none. " +
    "A finding names the label, its probability and the window or sentence. By default all of a text is read, and what it hides " +
    "besides; llm-guard's default was `full`, which looks at the beginning only.",
  // llm-guard 0.3.16 has these thresholds.
  sides: {
    input: { threshold: 0.5, counted: WITHOUT_SWEARING },
    output: { threshold: 0.7, counted: LABELS },
  },
  options: ({ threshold, counted }) => ({
    ...labelScannerOptions(threshold, "the likeliest label"),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        `Labels of the model that count, such as threat and insult. Default: those of ${counted.join(", ")} that it has.`,
      ),
    deobfuscate: deobfuscateOption,
  }),
  conversation: { window: true },
  differences: [
    { text: "In prompts, obscene words alone do not count; llm-guard counts them. `labels` can name them." },
    ...[ofReading, ofThreshold, ofLanguages],
  ],
  findings: [{ type: "toxicity", label: "The label of the model, such as `threat`." }],
  examples: {
    passes: ["Could you please check my essay for spelling mistakes?", "The knife is too blunt to cut the tomatoes."],
    fails: ["You are a stupid idiot and everybody hates you."],
  },
  create: (build, { counted }) =>
    labelScanner(build, { labels: labelsOf("toxicity", build.options.labels, counted), finding: "toxicity" }),
});
