import { z } from "zod";
import { addon, native } from "../native.ts";
import { wholeText } from "../scan/scanner.ts";
import { FAILED, round } from "../scan/score.ts";
import { llmGuardOption, withoutInfluence } from "../support/options.ts";
import { defineScanner } from "./define-scanner.ts";

export const Sentiment = defineScanner({
  type: "Sentiment",
  summary: "Fails texts that sound negative, by the English lexicon of VADER (Hutto and Gilbert 2014).",
  description:
    "Scores are those of llm-guard 0.3.16: 0 for a text that passes, and `(|sentiment| - threshold) / (1 - threshold)`, rounded to one " +
    "decimal, for a text that fails. With a positive threshold, that formula can fall below 0, which means a pass. Here a text that fails " +
    "has a score of at least 0.1.\n\n" +
    "NLTK, which llm-guard uses, reads the context of a repeated word at its first occurrence. Here the context of each occurrence is " +
    "read, as in the original program.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: -0.3 }, output: { threshold: -0.1 } },
  options: ({ threshold }) => ({
    threshold: withoutInfluence(
      z
        .number()
        .min(-1)
        .max(1)
        .default(threshold)
        .describe(
          "A text passes if its sentiment, from -1 (negative) to 1 (positive), is above this. With 0 or less, neutral texts (0) pass too.",
        ),
    ),
    lexicon: llmGuardOption(z.literal("vader_lexicon").optional(), ", which has only this lexicon."),
  }),
  differences: [
    {
      text: 'With a threshold of 0, as in llm-guard\'s file, a text without any sentiment passes. In llm-guard it fails, as most ordinary texts do. An ordinary text with one negative word still fails, such as "How do I set an alarm?", and often with the default of -0.3 too. `threshold: -0.7` passes such texts, and fails clearly negative ones.',
    },
    {
      text: "A text that fails has a score of at least 0.1. llm-guard's formula can fall below 0, which means a pass.",
    },
  ],
  findings: [{ type: "sentiment", label: "The sentiment of the text as a whole, such as `compound -0.79`." }],
  examples: {
    passes: ["What a lovely day, thank you!", "The train leaves at nine."],
    fails: ["This is horrible, awful and disgusting."],
  },
  create: ({ options: { threshold } }) => ({
    async check(text, { signal }) {
      const compound = await native(() => addon.sentiment(text), { signal });
      // Most ordinary texts have no word of the lexicon. They do not sound negative, also with a threshold of 0 as in llm-guard's file.
      const isNeutral = compound === 0 && threshold <= 0;
      if (compound > threshold || isNeutral)
        return { isValid: true, score: 0, findings: [], coverage: wholeText(text) };
      const strength = Math.abs(compound);
      const score = threshold === 1 ? FAILED : round((strength - threshold) / (1 - threshold), 1);
      return {
        isValid: false,
        score: Math.min(FAILED, Math.max(0.1, score)),
        findings: [{ start: 0, end: text.length, type: "sentiment", score: strength, label: `compound ${compound}` }],
        coverage: wholeText(text),
      };
    },
  }),
});
