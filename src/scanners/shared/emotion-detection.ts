import { z } from "zod";
import { LabelScanner, labelScannerOptions } from "./label-scanner.ts";

/** The negative emotions of GoEmotions (Demszky et al. 2020), as the `sentiment_mapping.json` of its authors groups them. */
const NEGATIVE = [
  ...["anger", "annoyance", "disappointment", "disapproval", "disgust", "embarrassment", "fear", "grief"],
  ...["nervousness", "remorse", "sadness"],
];

const schema = z.strictObject({
  ...labelScannerOptions(0.76, "the likeliest blocked emotion"),
  blockedEmotions: z
    .array(z.string().min(1))
    .min(1)
    .default(NEGATIVE)
    .describe("Emotions that a text fails by, of the 28 labels of GoEmotions. Default: the negative ones."),
  returnFullOutput: z
    .boolean()
    .optional()
    .describe("Of llm-guard; blocking every emotion with the threshold 0 tells the probabilities of all here."),
});

/**
 * Blocks texts that show certain emotions. A finding names the emotion and its probability.
 *
 * llm-guard has it in its repository, with the same emotions and a threshold of 0.5, and in no release.
 */
export class EmotionDetection extends LabelScanner<typeof schema> {
  static readonly type = "EmotionDetection";
  static readonly options = schema;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    const wanted = ({ blockedEmotions }: z.output<typeof schema>) => ({
      ...{ head: "emotion", labels: blockedEmotions, all: true, option: "blockedEmotions" },
    });
    super(EmotionDetection.type, schema, options, wanted, "emotion");
  }
}
