import { z } from "zod";
import { addon, native, type ReadingTime as ReadingTimeOfText } from "../native.ts";
import { passed, type Verdict, wholeText } from "../scan/scanner.ts";
import { FAILED, round } from "../scan/score.ts";
import { andThen } from "../support/maybe-async.ts";
import { defineScanner } from "./definition.ts";

export const ReadingTime = defineScanner({
  type: "ReadingTime",
  summary: "Fails texts that take too long to read.",
  description:
    "Words are read at 200 a minute, as in llm-guard 0.3.16. Chinese, Japanese, Thai, Lao, Khmer and Burmese, which llm-guard takes " +
    "for one word between two spaces, are counted in characters: 255 a minute for Chinese and 357 for Japanese (Trauzettel-Klosinski " +
    "and Dietz 2012, IReST), 620 for the others (200 words of 3.1 characters).\n\n" +
    "What remains of a text that is cut stays as it is; llm-guard also replaced its line breaks by spaces.",
  sides: { output: {} },
  options: () => ({
    maxTime: z.number().min(0).describe("The most minutes that reading the text may take."),
    truncate: z.boolean().default(false).describe("Cuts texts that take longer, after the last word that fits."),
  }),
  differences: [
    {
      text: "Chinese and other scripts without spaces are counted in characters, because they have no words to count by spaces, and the white space of what remains stays as it is.",
    },
  ],
  findings: [{ type: "reading-time", label: "The minutes that the text takes, and how many it may take." }],
  examples: {
    options: { maxTime: 0.02, truncate: true },
    passes: ["Just four words here."],
    fails: [{ text: "One two three four five six.", sanitized: "One two three four" }],
  },
  create: ({ options: { maxTime, truncate } }) => ({
    sanitizes: truncate,
    check(text, context) {
      const verdict = ({ minutes, end }: ReadingTimeOfText): Verdict => {
        if (minutes <= maxTime) return passed(text);
        const label = `${round(minutes, 2)} of ${maxTime} minutes`;
        return {
          isValid: false,
          score: FAILED,
          ...(truncate && { edits: [{ start: end, end: text.length, replacement: "" }] }),
          findings: [{ start: end, end: text.length, type: "reading-time", score: 1, label }],
          coverage: wholeText(text),
        };
      };
      return andThen(
        native(() => addon.readingTime(text, maxTime), context),
        verdict,
      );
    },
  }),
});
