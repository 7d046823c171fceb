import { z } from "zod";
import { passed, wholeText } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { defineScanner } from "./definition.ts";
import { languageModelOptions, languageTeller } from "./parts/language-detector.ts";
import { ofLinearModel } from "./parts/model-options.ts";

export const LanguageSame = defineScanner({
  type: "LanguageSame",
  summary: "Fails outputs that share no language with their prompt.",
  description:
    "Where one of the two is too short to tell its language, there is nothing to compare: the output passes, and its coverage has 0 " +
    "windows. So short answers pass to any prompt, and so do numbers, names, links and code. llm-guard compares them all the same.",
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
  differences: [
    { text: "Where the prompt or the answer is too short to tell its language, the answer passes." },
    ofLinearModel,
  ],
  findings: [{ type: "language", label: "The likeliest language of the output, by its ISO 639-1 code." }],
  examples: {
    passes: [{ prompt: "Where is the nearest railway station?", text: "The railway station is behind the town hall." }],
    fails: [
      { prompt: "Where is the nearest railway station?", text: "Der Bahnhof liegt hinter dem Rathaus der Stadt." },
    ],
  },
  create(build) {
    const { threshold } = build.options;
    const teller = languageTeller(build);
    return {
      load: (signal) => teller.load(signal),
      close: () => teller.close(),
      async check(text, { prompt = "", signal, answers }) {
        const { other, judged } = await teller.differs(prompt, text, threshold, { signal, answers });
        if (!other) return passed(text, wholeText(text, judged ? 1 : 0));
        const { probability: score, language: label } = other;
        const finding = { start: 0, end: text.length, type: "language", text, score, label };
        return { isValid: false, score: FAILED, findings: [finding], coverage: wholeText(text) };
      },
    };
  },
});
