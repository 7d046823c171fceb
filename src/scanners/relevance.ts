import { AnsweringHead } from "../models/answering.ts";
import { type Comparison, comparisonOf, eachCosine } from "../models/comparing.ts";
import { MeaningHead, type PartVector } from "../models/meaning.ts";
import { passed, wholeText } from "../scan/scanner.ts";
import { riskScore } from "../scan/score.ts";
import { withPathPrefix } from "../support/errors.ts";
import { defineScanner } from "./definition.ts";
import { coverageOf } from "./parts/disguises.ts";
import { languageJudge, lengthOf, onUntrainedLanguageOption, withUntrained } from "./parts/foreign-languages.ts";
import { engineOptions, matchTypeOption, modelOption, ofLanguages } from "./parts/model-options.ts";
import { resolveMinimum, thresholdOption } from "./parts/threshold.ts";

/** How many pairs of windows are read together: those whose vectors are nearest to each other. */
const CANDIDATES = 3;

export const Relevance = defineScanner({
  type: "Relevance",
  summary: "Fails outputs that do not answer their prompt.",
  description:
    "A model that gives vectors is asked for the cosine of the two windows of prompt and output that are nearest to each other: the " +
    "question often is a small part of a prompt, and the answer a part of an output. llm-guard compares the first 512 tokens. A model " +
    "that gives vectors and also has a head `relevance`, as the embedded one does, then reads the two windows together, so that an " +
    `answer is told from a text on the same subject; of long texts it reads the ${CANDIDATES} nearest pairs, and the best one counts. A ` +
    "cross-encoder, which has one label, as those have that rank passages by a question, reads every window of the prompt with every " +
    "part of the output. The `probability` of a verdict is that of an output beside the point, 1 less than what the threshold is " +
    "compared with.",
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
      text: "The threshold is compared with a probability; llm-guard compares it with the cosine, whose usual height depends on the model. So does this with a model that gives vectors and whose `config.json` does not say what its cosines mean.",
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
    const model = withPathPrefix("model", () => build.engine.model(name, { maxLength }));
    const meaning = new MeaningHead(model);
    const answering = new AnsweringHead(model);
    const { type, engine } = build;
    const byLanguage = languageJudge({ type, engine, model, head: "meaning", treatment });
    /** Undefined as long as a model of the hub is not downloaded. */
    let relevance: Comparison | undefined;
    if (model.folder !== undefined) relevance = comparisonOf(model.folder, "relevance");
    /** An output fails when its probability of being beside the point is above this. */
    const limit = resolveMinimum(build, model.folder, "threshold");
    return {
      asks: () => ({ model, head: "meaning" }),
      async load(signal) {
        if (!(await answering.load(signal))) await meaning.load(signal);
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
        const judge = (asked: string, given: string) => answering.judge(asked, given, { signal, answers });
        let answer: number;
        let coverage = wholeText(text, 1);
        if (await answering.readsOnlyPairs({ signal })) {
          answer = (await judge(prompt, text)) ?? Number.NaN;
        } else {
          const read = (whole: string) => meaning.vectors(whole, matchType, { signal, answers });
          const [asked, given] = await Promise.all([read(prompt), read(text)]);
          const others = given.parts.map((part) => ({ ...part, score: 0 }));
          coverage = coverageOf(text, { parts: others, others: [], skipped: given.skipped });
          relevance ??= comparisonOf(model.folder, "relevance");
          const compare = relevance;
          const pairs = await nearest(asked.parts, given.parts, signal);
          const judged = pairs.map(async ([a, b, cosine]) => {
            const together = await judge(prompt.slice(a.start, a.end), text.slice(b.start, b.end));
            return together === -1 ? -1 : compare(cosine, together);
          });
          answer = Math.max(-1, ...(await Promise.all(judged)));
        }
        // There is nothing to compare.
        if (answer === -1) return passed(text, coverage);
        const probability = 1 - answer;
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

/** Returns the pairs of parts that are nearest to each other, and their cosines; the nearest first. */
async function nearest(
  some: readonly PartVector[],
  others: readonly PartVector[],
  signal?: AbortSignal,
): Promise<[PartVector, PartVector, number][]> {
  let best: [number, number, number][] = [];
  const vectorsOf = (parts: readonly PartVector[]) => parts.map(({ vector }) => vector);
  const visit = (a: number, b: number, cosine: number) => {
    // NaN comes first, so that it never reads as "far apart".
    if (best.length === CANDIDATES && cosine <= (best.at(-1)?.[2] ?? -1)) return;
    best = [...best, [a, b, cosine] as [number, number, number]]
      .sort(([, , x], [, , y]) => (Number.isNaN(x) ? -1 : Number.isNaN(y) ? 1 : y - x))
      .slice(0, CANDIDATES);
  };
  await eachCosine(vectorsOf(some), vectorsOf(others), visit, { signal });
  return best.map(([a, b, cosine]) => [some[a] as PartVector, others[b] as PartVector, cosine]);
}
