import { madeFrom } from "../errors.ts";
import { AnsweringHead } from "../models/answering.ts";
import { type Comparison, comparisonOf, eachCosine } from "../models/comparing.ts";
import { MeaningHead, type PartVector } from "../models/meaning.ts";
import { passed, wholeText } from "../scanner.ts";
import { defineScanner } from "./define.ts";
import { coverageOf } from "./parts/disguises.ts";
import { languageJudge, lengthOf, onUntrainedLanguageOption, withUntrained } from "./parts/foreign-languages.ts";
import { engineOptions, matchTypeOption, modelOption, ofLanguages } from "./parts/model-options.ts";
import { resolveMinimum, thresholdOption } from "./parts/threshold.ts";
import { riskScore } from "./score.ts";

/** A prompt and an output that are no longer than this together, in UTF-16 code units, are read as a whole. */
const TOGETHER = 500;
/** Of longer ones, how many pairs of windows are read together: those whose vectors are nearest to each other. */
const CANDIDATES = 3;

export const Relevance = defineScanner({
  type: "Relevance",
  summary: "Fails outputs that do not answer their prompt.",
  description:
    "A model that gives vectors, as the embedded one does, is asked for the cosine of the two windows of prompt and output that are nearest " +
    "to each other: the question often is a small part of a prompt, and the answer a part of an output. llm-guard compares the first 512 " +
    "tokens. A cross-encoder reads prompt and output together: a model with one label, as those are that rank passages by a question, " +
    "reads every window of the prompt with every part of the output, and the best pair counts; one that gives vectors, too, and has a head " +
    `\`relevance\`, reads the ${CANDIDATES} nearest pairs of windows of long texts. The \`probability\` of a verdict is that of an output ` +
    "beside the point, 1 less than what the threshold is compared with.",
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
    const model = madeFrom("model", () => build.engine.model(name, { maxLength }));
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
        const judge = (asked: string, given: string) => answering.judge(asked, given, signal, answers);
        const isShort = matchType === "windows" && prompt.length + text.length <= TOGETHER;
        const asWhole = isShort || (await answering.readsOnlyPairs(signal));
        let answer = asWhole ? await judge(prompt, text) : undefined;
        let coverage = wholeText(text, 1);
        if (answer === undefined) {
          const read = (whole: string) => meaning.vectors(whole, matchType, signal, answers);
          const [asked, given] = await Promise.all([read(prompt), read(text)]);
          const others = given.parts.map((part) => ({ ...part, score: 0 }));
          coverage = coverageOf(text, { parts: others, others: [], skipped: given.skipped });
          const pairs = await nearest(asked.parts, given.parts, signal);
          const judged = pairs.map(([a, b]) => judge(prompt.slice(a.start, a.end), text.slice(b.start, b.end)));
          const said = (await Promise.all(judged)).filter((each) => each !== undefined);
          relevance ??= comparisonOf(model.folder, "relevance");
          answer = pairs[0] && said.length === 0 ? relevance(pairs[0][2]) : Math.max(-1, ...said);
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
  await eachCosine(vectorsOf(some), vectorsOf(others), visit, signal);
  return best.map(([a, b, cosine]) => [some[a] as PartVector, others[b] as PartVector, cosine]);
}
