import { z } from "zod";
import { notScanned, passed, wholeText } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { WITHOUT_PROMPT } from "./common-options.ts";
import { defineScanner } from "./define-scanner.ts";
import { languageIdentifier, languageModelOptions } from "./parts/language-identifier.ts";
import { linearModelDifference } from "./parts/model-options.ts";

export const LanguageSame = defineScanner({
  type: "LanguageSame",
  summary: "Fails outputs that share no language with their prompt.",
  description:
    "If the prompt or the output is too short to identify its language, the output passes, and its coverage has 0 windows. Short answers " +
    "therefore pass for any prompt, and so do numbers, names, links and code. llm-guard compares them all the same.\n\n" +
    WITHOUT_PROMPT,
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
    { text: "If the prompt or the answer is too short to identify its language, the answer passes." },
    linearModelDifference,
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
    const identifier = languageIdentifier(build);
    return {
      load: (signal) => identifier.load(signal),
      close: () => identifier.close(),
      async check(text, context) {
        const { prompt = "" } = context;
        if (prompt.trim() === "" && text.trim() !== "") return passed(text, notScanned(text));
        const { other, isLongEnough } = await identifier.difference(prompt, text, threshold, context);
        if (!other) return passed(text, wholeText(text, isLongEnough ? 1 : 0));
        const { probability: score, language: label } = other;
        const finding = { start: 0, end: text.length, type: "language", text, score, label };
        return { isValid: false, score: FAILED, findings: [finding], coverage: wholeText(text) };
      },
    };
  },
});
