import { z } from "zod";
import type { LanguageGuess } from "../models/languages.ts";
import { passed, wholeText } from "../scanner.ts";
import { defineScanner } from "./define.ts";
import { languageDetector, languageModelOptions } from "./parts/language-detector.ts";
import { ofLinearModel } from "./parts/model-options.ts";
import { FAILED } from "./score.ts";

export const LanguageSame = defineScanner({
  type: "LanguageSame",
  summary: "Fails outputs that share no language with their prompt.",
  description:
    "Where one of the two has no letters (a number, emoji, a link), there is nothing to compare, and the output passes.",
  sides: { output: {} },
  options: () => ({
    threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.1)
      .describe("A language counts as found in a text when its probability is above this."),
    ...languageModelOptions,
  }),
  comparesWithPrompt: true,
  differences: [{ text: "A text without letters passes, because it is in no language." }, ofLinearModel],
  findings: [{ type: "language", label: "The likeliest language of the output, by its ISO 639-1 code." }],
  examples: {
    passes: [{ prompt: "Where is the nearest railway station?", text: "The railway station is behind the town hall." }],
    fails: [
      { prompt: "Where is the nearest railway station?", text: "Der Bahnhof liegt hinter dem Rathaus der Stadt." },
    ],
  },
  create(build) {
    const { threshold } = build.options;
    const detector = languageDetector(build);
    const found = (guesses: readonly LanguageGuess[]) =>
      guesses.filter(({ probability }) => probability > threshold).map(({ language }) => language);
    return {
      load: () => detector.load(),
      close: () => detector.close(),
      async check(text, { prompt = "", answers }) {
        const [asked, answered] = await Promise.all([detector.detect(prompt, answers), detector.detect(text, answers)]);
        const best = answered.whole[0];
        if (!best || asked.whole.length === 0) return passed(text);
        const wanted = new Set(found(asked.whole));
        if (found(answered.whole).some((language) => wanted.has(language))) return passed(text);
        const { probability: score, language: label } = best;
        const finding = { start: 0, end: text.length, type: "language", text, score, label };
        return { isValid: false, score: FAILED, findings: [finding], coverage: wholeText(text) };
      },
    };
  },
});
