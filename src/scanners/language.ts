import { z } from "zod";
import { knownAs, type LanguageGuess } from "../models/languages.ts";
import { type Finding, passed, wholeText } from "../scanner.ts";
import type { Span } from "../text/span.ts";
import { defineScanner } from "./define.ts";
import { languageDetector, languageModelOptions } from "./parts/language-detector.ts";
import { ofLinearModel, ofThreshold } from "./parts/model-options.ts";
import { resolveThreshold, thresholdOption } from "./parts/threshold.ts";
import { PASSED, riskScore } from "./score.ts";

/** A part of a text with the languages that it may be in, the likeliest first. */
interface LanguagePart extends Span {
  guesses: readonly LanguageGuess[];
}

export const Language = defineScanner({
  type: "Language",
  summary: "Blocks texts in languages other than the listed ones.",
  description: "A text without letters is in no language and passes.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: 0.6 }, output: { threshold: 0.7 } },
  options: ({ threshold }) => ({
    validLanguages: z
      .array(z.string().regex(/^[a-z]{2,3}$/, "expected an ISO 639-1 code such as en"))
      .min(1)
      .describe("Languages that pass, by their ISO 639-1 codes."),
    threshold: thresholdOption(
      threshold,
      "A language counts as found when its probability is above this; a text in which none is found passes.",
    ),
    matchType: z
      .enum(["full", "sentence"])
      .default("full")
      .describe("full: the text as a whole. sentence: each sentence; the worst decides."),
    ...languageModelOptions,
  }),
  differences: [{ text: "A text without letters passes, because it is in no language." }, ofLinearModel, ofThreshold],
  findings: [{ type: "language", label: "The language, by its ISO 639-1 code." }],
  examples: {
    options: { validLanguages: ["en"] },
    passes: ["Where is the nearest railway station, please?", "12:30 👍"],
    fails: ["Wo ist bitte der nächste Bahnhof?"],
  },
  create(build) {
    const { validLanguages, matchType } = build.options;
    const detector = languageDetector(build);
    const limit = resolveThreshold(build, detector.folder);
    const valid = new Set(validLanguages.map(knownAs));
    /** Returns the likeliest language that is not allowed. */
    const foreign = (guesses: readonly LanguageGuess[]) => guesses.find(({ language }) => !valid.has(language));

    /**
     * Returns the findings for a text that fails as a whole: one for each sentence that fails by itself, or one for the whole text
     * when no sentence does.
     */
    const findingsOf = (text: string, all: LanguagePart, sentences: readonly LanguagePart[]): Finding[] => {
      const failed = sentences.filter(({ guesses }) => (foreign(guesses)?.probability ?? 0) > limit);
      return (failed.length > 0 ? failed : [all]).map(({ start, end, guesses }) => {
        const { language, probability } = foreign(guesses) as LanguageGuess;
        return { start, end, type: "language", text: text.slice(start, end), score: probability, label: language };
      });
    };

    return {
      load: () => detector.load(),
      close: () => detector.close(),
      async check(text, { answers }) {
        if (text.trim() === "") return passed(text);
        const { whole, sentences } = await detector.detect(text, answers);
        const all = { start: 0, end: text.length, guesses: whole };
        const judged = matchType === "sentence" ? sentences : [all];
        const coverage = wholeText(text, judged.length);
        if (judged.every(({ guesses }) => guesses.length === 0)) return passed(text, coverage);
        const probability = judged.reduce((most, { guesses }) => Math.max(most, foreign(guesses)?.probability ?? 0), 0);
        const isValid = probability <= limit;
        return {
          isValid,
          score: isValid ? PASSED : riskScore(probability, limit),
          probability,
          findings: isValid ? [] : findingsOf(text, all, sentences),
          coverage,
        };
      },
    };
  },
});
