import { z } from "zod";
import { withoutInfluence } from "../support/options.ts";
import { defineScanner } from "./define-scanner.ts";
import { labelScanner, labelScannerOptions } from "./parts/label-scanner.ts";
import { languageDifference, readingDifference, thresholdDifference } from "./parts/model-options.ts";

/** The negative emotions of GoEmotions (Demszky et al. 2020), as its `sentiment_mapping.json` groups them. */
const NEGATIVE = [
  ...["anger", "annoyance", "disappointment", "disapproval", "disgust", "embarrassment", "fear", "grief"],
  ...["nervousness", "remorse", "sadness"],
];

export const EmotionDetection = defineScanner({
  type: "EmotionDetection",
  summary: "Blocks texts that show certain emotions.",
  description:
    "A finding names the emotion and its probability. llm-guard has this scanner in its repository, with the same emotions and a " +
    "threshold of 0.5, but in no release.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...labelScannerOptions(0.65, "the likeliest blocked emotion"),
    blockedEmotions: z
      .array(z.string().min(1))
      .default(NEGATIVE)
      .describe(
        "Emotions that make a text fail, of the 28 labels of GoEmotions. With an empty list, every text passes. Default: the negative emotions.",
      ),
    returnFullOutput: withoutInfluence(
      z
        .boolean()
        .default(false)
        .describe("Adds a finding for each emotion that the model knows, with its highest probability in the text."),
    ),
  }),
  differences: [
    {
      without: ["threshold"],
      text: "The threshold is 0.65 (0.5 in llm-guard's main branch), which was measured for the embedded model.",
    },
    readingDifference,
    thresholdDifference,
    languageDifference,
  ],
  findings: [
    { type: "emotion", label: "The emotion." },
    { type: "emotion-score", label: "An emotion, whether the text fails or passes. Only with `return_full_output`." },
  ],
  examples: {
    passes: ["Thank you so much, this made my day!", "The train leaves at nine."],
    fails: ["I am furious, this makes me so angry!"],
  },
  create: (build) =>
    labelScanner(build, {
      labels: { head: "emotion", labels: build.options.blockedEmotions, all: true, option: "blockedEmotions" },
      finding: "emotion",
      ...(build.options.returnFullOutput ? { scores: "emotion-score" } : {}),
    }),
});
