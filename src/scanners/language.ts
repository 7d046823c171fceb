import { z } from "zod";
import { canonicalLanguage, type LanguageGuess } from "../models/languages.ts";
import { type Finding, passed, wholeText } from "../scan/scanner.ts";
import { PASSED, riskScore } from "../scan/score.ts";
import { languageCode } from "../support/language-codes.ts";
import { defineScanner } from "./define-scanner.ts";
import { type IdentifiedPart, languageIdentifier, languageModelOptions } from "./parts/language-identifier.ts";
import { linearModelDifference, thresholdDifference } from "./parts/model-options.ts";
import { resolveReview, resolveThreshold, reviewOptions, thresholdOption } from "./parts/threshold.ts";

export const Language = defineScanner({
  type: "Language",
  summary: "Blocks texts in languages other than the listed ones.",
  description:
    "Only prose counts: code, links, formulas and names are in no language. A text that is too short to identify its language passes, and " +
    "its coverage has 0 windows: `ok`, a name, a command. Two letters are enough if no listed language is written in their script. " +
    "Among languages of one script, a few words must be far likelier in another language than in the listed ones.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: 0.6 }, output: { threshold: 0.7 } },
  options: ({ threshold }) => ({
    validLanguages: z.array(languageCode()).min(1).describe("Languages that pass, by their ISO 639-1 codes."),
    threshold: thresholdOption(
      threshold,
      "A language counts as found when its probability is above this. A text without any found language passes.",
    ),
    ...reviewOptions,
    matchType: z
      .enum(["full", "sentence"])
      .default("full")
      .describe("full: the text as a whole. sentence: each sentence. The worst one decides."),
    ...languageModelOptions,
  }),
  differences: [
    { text: "A text that is too short to identify its language passes, and code, links and names do not count." },
    linearModelDifference,
    thresholdDifference,
  ],
  findings: [{ type: "language", label: "The language, by its ISO 639-1 code." }],
  examples: {
    options: { validLanguages: ["en"] },
    passes: ["Where is the nearest railway station, please?", "12:30 👍"],
    fails: ["Wo ist bitte der nächste Bahnhof?"],
  },
  create(build) {
    const { validLanguages, matchType } = build.options;
    const identifier = languageIdentifier(build);
    const threshold = resolveThreshold(build, identifier.folder);
    const valid = validLanguages.map(canonicalLanguage);

    /** Returns the findings of a text that fails: one for each sentence that fails by itself, or one for the whole text if none does. */
    const findingsOf = (text: string, all: IdentifiedPart, sentences: readonly IdentifiedPart[]): Finding[] => {
      const failed = sentences.filter(({ other }) => (other?.probability ?? 0) > threshold);
      return (failed.length > 0 ? failed : [all]).map(({ start, end, other }) => {
        const { language, probability } = other as LanguageGuess;
        return { start, end, type: "language", text: text.slice(start, end), score: probability, label: language };
      });
    };

    return {
      ...resolveReview(build, identifier.folder, threshold),
      load: (signal) => identifier.load(signal),
      close: () => identifier.close(),
      async check(text, context) {
        if (text.trim() === "") return passed(text);
        const { whole, sentences } = await identifier.others(text, valid, context);
        const read = (matchType === "sentence" ? sentences : [whole]).filter((part) => part.isLongEnough);
        const coverage = wholeText(text, read.length);
        if (read.length === 0) return passed(text, coverage);
        const probability = read.reduce((most, { other }) => Math.max(most, other?.probability ?? 0), 0);
        const isValid = probability <= threshold;
        return {
          isValid,
          score: isValid ? PASSED : riskScore(probability, threshold),
          probability,
          findings: isValid ? [] : findingsOf(text, whole, sentences),
          coverage,
        };
      },
    };
  },
});
