import { z } from "zod";
import { knownAs, type LanguageGuess } from "../models/languages.ts";
import { type Finding, passed, wholeText } from "../scan/scanner.ts";
import { PASSED, riskScore } from "../scan/score.ts";
import { defineScanner } from "./definition.ts";
import { languageModelOptions, languageTeller, type ToldLanguage } from "./parts/language-detector.ts";
import { ofLinearModel, ofThreshold } from "./parts/model-options.ts";
import { resolveThreshold, thresholdOption } from "./parts/threshold.ts";

export const Language = defineScanner({
  type: "Language",
  summary: "Blocks texts in languages other than the listed ones.",
  description:
    "Only prose is judged: code, links, formulas and names are in no language. A text that is too short to tell passes, and its " +
    "coverage has 0 windows: `ok`, a name, a command. A script in which no listed language is written tells from two letters on; " +
    "between languages of one script a few words have to be far likelier in another language than in the listed ones.",
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
  differences: [
    { text: "A text that is too short to tell its language passes, and code, links and names do not count." },
    ofLinearModel,
    ofThreshold,
  ],
  findings: [{ type: "language", label: "The language, by its ISO 639-1 code." }],
  examples: {
    options: { validLanguages: ["en"] },
    passes: ["Where is the nearest railway station, please?", "12:30 👍"],
    fails: ["Wo ist bitte der nächste Bahnhof?"],
  },
  create(build) {
    const { validLanguages, matchType } = build.options;
    const teller = languageTeller(build);
    const limit = resolveThreshold(build, teller.folder);
    const valid = validLanguages.map(knownAs);

    /**
     * Returns the findings for a text that fails as a whole: one for each sentence that fails by itself, or one for the whole text
     * when no sentence does.
     */
    const findingsOf = (text: string, all: ToldLanguage, sentences: readonly ToldLanguage[]): Finding[] => {
      const failed = sentences.filter(({ other }) => (other?.probability ?? 0) > limit);
      return (failed.length > 0 ? failed : [all]).map(({ start, end, other }) => {
        const { language, probability } = other as LanguageGuess;
        return { start, end, type: "language", text: text.slice(start, end), score: probability, label: language };
      });
    };

    return {
      load: (signal) => teller.load(signal),
      close: () => teller.close(),
      async check(text, { signal, answers }) {
        if (text.trim() === "") return passed(text);
        const { whole, sentences } = await teller.others(text, valid, { signal, answers });
        const judged = (matchType === "sentence" ? sentences : [whole]).filter((part) => part.judged);
        const coverage = wholeText(text, judged.length);
        if (judged.length === 0) return passed(text, coverage);
        const probability = judged.reduce((most, { other }) => Math.max(most, other?.probability ?? 0), 0);
        const isValid = probability <= limit;
        return {
          isValid,
          score: isValid ? PASSED : riskScore(probability, limit),
          probability,
          findings: isValid ? [] : findingsOf(text, whole, sentences),
          coverage,
        };
      },
    };
  },
});
