import { madeFrom } from "../errors.ts";
import { type Comparison, comparisonOf, highestCosine } from "../models/comparing.ts";
import { MeaningHead } from "../models/meaning.ts";
import { passed } from "../scanner.ts";
import { defineScanner } from "./define.ts";
import { coverageOf } from "./parts/disguises.ts";
import { languageJudge, lengthOf, onUntrainedLanguageOption, withUntrained } from "./parts/foreign-languages.ts";
import { engineOptions, matchTypeOption, modelOption, ofLanguages } from "./parts/model-options.ts";
import { resolveMinimum, thresholdOption } from "./parts/threshold.ts";
import { riskScore } from "./score.ts";

export const Relevance = defineScanner({
  type: "Relevance",
  summary: "Fails outputs that do not answer their prompt, by vectors of what the two mean.",
  description:
    "Of long texts the two windows count that are nearest to each other: the question often is a small part of a prompt, and the " +
    "answer a part of an output. The `probability` of a verdict is that of an output beside the point, 1 less than what the " +
    "threshold is compared with. llm-guard compares the cosine itself, of the first 512 tokens; so does this with a model whose " +
    "`config.json` does not say what its cosines mean.",
  sides: { output: {} },
  options: () => ({
    model: modelOption(),
    threshold: thresholdOption(0.5, "An output fails when the probability that it answers the prompt is below this."),
    matchType: matchTypeOption.describe(
      "windows: all of prompt and output, in overlapping pieces where they are longer than the model reads at once; the two nearest to " +
        "each other count. full: their beginnings. sentence, chunks, truncate_token_head_tail, truncate_head_tail: other pieces.",
    ),
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...engineOptions(),
  }),
  comparesWithPrompt: true,
  minimum: "threshold",
  differences: [
    {
      text: "The threshold is compared with a probability; llm-guard compares it with the cosine, whose usual height depends on the model.",
    },
    { text: "Without a prompt there is nothing to compare, and an answer passes." },
    ofLanguages,
  ],
  findings: [{ type: "irrelevance" }],
  examples: {
    passes: [{ prompt: "What is the capital of France?", text: "The capital of France is Paris." }],
    fails: [{ prompt: "What is the capital of France?", text: "Knead the dough for ten minutes and let it rise." }],
  },
  create(build) {
    const { model: name, modelMaxLength: maxLength, matchType, onUntrainedLanguage: treatment } = build.options;
    const model = madeFrom("model", () => build.engine.model(name, { maxLength }));
    const meaning = new MeaningHead(model);
    const { type, engine } = build;
    const byLanguage = languageJudge({ type, engine, model, head: "meaning", treatment });
    /** Undefined as long as a model of the hub is not downloaded. */
    let relevance: Comparison | undefined;
    if (model.folder !== undefined) relevance = comparisonOf(model.folder, "relevance");
    /** An output fails when its probability of being beside the point is above this. */
    const limit = resolveMinimum(build, model.folder, "threshold");
    return {
      async load(signal) {
        await meaning.load(signal);
        await byLanguage.load();
      },
      close: () => model.close(),
      async check(text, { prompt = "", signal, answers }) {
        if (prompt.trim() === "" || text.trim() === "") return passed(text);
        const [foreignPrompt, foreign] = await Promise.all(
          [prompt, text].map((each) => byLanguage.foreign(each, answers, signal)),
        );
        // Vectors of languages that the model was not trained in may be far from each other, whatever they mean.
        const isForeign = (whole: string, parts = foreign) => 2 * lengthOf(parts ?? []) > whole.length;
        if (isForeign(text) || isForeign(prompt, foreignPrompt)) {
          const [language] = [...(foreign ?? []), ...(foreignPrompt ?? [])].map(({ language }) => language);
          const left = [{ start: 0, end: text.length, language: language ?? "und" }];
          return withUntrained(text, passed(text), left, treatment);
        }
        const read = (whole: string) => meaning.vectors(whole, matchType, signal, answers);
        const [asked, answered] = await Promise.all([read(prompt), read(text)]);
        const others = answered.parts.map((part) => ({ ...part, score: 0 }));
        const coverage = coverageOf(text, { parts: others, others: [], skipped: answered.skipped });
        if (asked.parts.length === 0 || answered.parts.length === 0) return passed(text, coverage);
        relevance ??= comparisonOf(model.folder, "relevance");
        const [ofPrompt, ofOutput] = [asked, answered].map(({ parts }) => parts.map(({ vector }) => vector));
        const nearest = await highestCosine(ofPrompt ?? [], ofOutput ?? [], signal);
        const probability = 1 - relevance(nearest);
        const isValid = probability <= limit;
        const finding = { start: 0, end: text.length, type: "irrelevance", text, score: probability };
        return {
          isValid,
          score: riskScore(probability, limit),
          probability,
          findings: isValid ? [] : [finding],
          coverage,
        };
      },
    };
  },
});
