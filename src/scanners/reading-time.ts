import { z } from "zod";
import { addon, native } from "../native.ts";
import { passed, wholeText } from "../scan/scanner.ts";
import { FAILED, round } from "../scan/score.ts";
import { defineScanner } from "./define-scanner.ts";

export const ReadingTime = defineScanner({
  type: "ReadingTime",
  summary: "Fails texts that take too long to read.",
  description:
    "The reading speed is 200 words per minute, as in llm-guard 0.3.16. Chinese, Japanese, Thai, Lao, Khmer and Burmese are counted in " +
    "characters: 255 per minute for Chinese and 357 for Japanese (Trauzettel-Klosinski and Dietz 2012, IReST), and 620 for the others " +
    "(200 words of 3.1 characters). llm-guard counts their text between two spaces as one word.\n\n" +
    "Truncation keeps line breaks. llm-guard replaces them by spaces.",
  sides: { output: {} },
  options: () => ({
    maxTime: z.number().min(0).describe("The most minutes of reading time."),
    truncate: z.boolean().default(false).describe("Truncates longer texts after the last word that fits."),
  }),
  differences: [
    {
      text: "Chinese and other scripts without spaces are counted in characters, and truncation keeps white space.",
    },
  ],
  findings: [{ type: "reading-time", label: "The reading time of the text and the limit, in minutes." }],
  examples: {
    options: { maxTime: 0.02, truncate: true },
    passes: ["Just four words here."],
    fails: [{ text: "One two three four five six.", sanitized: "One two three four" }],
  },
  create: ({ options: { maxTime, truncate } }) => ({
    sanitizes: truncate,
    async check(text, context) {
      const { minutes, end } = await native(() => addon.readingTime(text, maxTime), context);
      if (minutes <= maxTime) return passed(text);
      const label = `${round(minutes, 2)} of ${maxTime} minutes`;
      return {
        isValid: false,
        score: FAILED,
        ...(truncate && { edits: [{ start: end, end: text.length, replacement: "" }] }),
        findings: [{ start: end, end: text.length, type: "reading-time", score: 1, label }],
        coverage: wholeText(text),
      };
    },
  }),
});
