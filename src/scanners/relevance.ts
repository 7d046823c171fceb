import type { CallContext } from "../models/call-context.ts";
import { EmbeddingHead, type PartEmbedding } from "../models/embedding-head.ts";
import type { LongTextStrategy } from "../models/long-text-strategy.ts";
import { RelevanceHead } from "../models/relevance-head.ts";
import { type Comparison, readComparison, visitCosines } from "../models/similarity.ts";
import type { TextModel } from "../models/text-model.ts";
import { type Coverage, notScanned, passed, wholeText } from "../scan/scanner.ts";
import { riskScore } from "../scan/score.ts";
import { withPathPrefix } from "../support/errors.ts";
import { WITHOUT_PROMPT } from "./common-options.ts";
import { defineScanner } from "./define-scanner.ts";
import type { Build } from "./definition.ts";
import { engineOptions, languageDifference, matchTypeOption, modelOption } from "./parts/model-options.ts";
import { coverageOf } from "./parts/scored-text.ts";
import { resolveMinimum, resolveReview, reviewOptions, thresholdOption } from "./parts/threshold.ts";
import {
  type LanguageScorer,
  languageScorer,
  lengthOf,
  onUntrainedLanguageOption,
  type UntrainedPart,
  type UntrainedTreatment,
  withUntrained,
} from "./parts/untrained-languages.ts";

/** How many pairs of windows the model reads together: those whose vectors are nearest to each other. */
const CANDIDATES = 3;

export const Relevance = defineScanner({
  type: "Relevance",
  summary: "Fails outputs that do not answer their prompt.",
  description:
    "An embedding model compares the windows of the prompt with those of the output, and the two nearest windows count: the question is " +
    "often a small part of a prompt, and the answer a part of an output. llm-guard compares the first 512 tokens. If the model also has a " +
    "head `relevance`, as the embedded model does, it then reads the two windows together, to tell an answer from a text on the same " +
    `subject. Of long texts it reads the ${CANDIDATES} nearest pairs, and the best one counts. A cross-encoder, a model with one label that ranks ` +
    "passages by a question, reads every window of the prompt with every part of the output. The `probability` of a verdict is that the " +
    "output is irrelevant: 1 minus the value that the threshold is compared with.",
  sides: { output: {} },
  options: () => ({
    model: modelOption(),
    threshold: thresholdOption(0.5, "An output fails when the probability that it answers the prompt is below this."),
    ...reviewOptions,
    matchType: matchTypeOption.describe(
      "windows: all of prompt and output, in overlapping pieces if they are longer than the model's input; the two nearest pieces count. " +
        "full: their beginnings. sentence, chunks, truncate_token_head_tail, truncate_head_tail: other pieces.",
    ),
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...engineOptions(),
  }),
  comparesWithPrompt: true,
  minimum: "threshold",
  differences: [
    {
      text: "The threshold is compared with a probability. llm-guard compares it with the cosine, whose usual range depends on the model. An embedding model whose `config.json` does not say how to read its cosines is compared by the cosine here too.",
    },
    { text: WITHOUT_PROMPT },
    languageDifference,
  ],
  findings: [{ type: "irrelevance" }],
  examples: {
    passes: [{ prompt: "What is the capital of France?", text: "The capital of France is Paris." }],
    fails: [{ prompt: "What is the capital of France?", text: "Knead the dough for ten minutes and let it rise." }],
  },
  create(build) {
    const { onUntrainedLanguage: treatment } = build.options;
    const comparison = new PromptComparison(build);
    /** An output fails if its probability of being irrelevant is above this. */
    const threshold = resolveMinimum(build, comparison.model.folder, "threshold");
    return {
      ...resolveReview(build, comparison.model.folder, threshold, "threshold"),
      load: (signal) => comparison.load(signal),
      close: () => comparison.model.close(),
      async check(text, context) {
        const { prompt = "" } = context;
        if (text.trim() === "") return passed(text);
        if (prompt.trim() === "") return passed(text, notScanned(text));
        const language = await comparison.untrainedLanguage(prompt, text, context);
        if (language !== undefined) {
          return withUntrained(text, passed(text), [{ start: 0, end: text.length, language }], treatment);
        }
        const { relevance, coverage } = await comparison.compare(prompt, text, context);
        if (relevance === NOTHING_TO_COMPARE) return passed(text, coverage);
        const probability = 1 - relevance;
        const isValid = probability <= threshold;
        const finding = { start: 0, end: text.length, type: "irrelevance", text, score: probability };
        const score = riskScore(probability, threshold);
        return { isValid, score, probability, findings: isValid ? [] : [finding], coverage };
      },
    };
  },
});

interface RelevanceOptions extends Record<string, unknown> {
  model: string;
  modelMaxLength?: number | undefined;
  matchType: LongTextStrategy;
  onUntrainedLanguage: UntrainedTreatment;
}

/** The relevance if one of the two texts has nothing to compare. */
const NOTHING_TO_COMPARE = -1;

/** Compares an output with its prompt. */
class PromptComparison {
  readonly model: TextModel;
  readonly #meaning: EmbeddingHead;
  readonly #answering: RelevanceHead;
  readonly #languages: LanguageScorer;
  readonly #strategy: LongTextStrategy;
  /** Undefined as long as a model of the hub is not downloaded. */
  #relevance: Comparison | undefined;

  /** @throws GuardValidationError for a model that does not exist. */
  constructor({ type, engine, options }: Build<RelevanceOptions>) {
    const { model: name, modelMaxLength: maxLength, onUntrainedLanguage: treatment } = options;
    const model = withPathPrefix("model", () => engine.model(name, { maxLength }));
    this.model = model;
    this.#meaning = new EmbeddingHead(model);
    this.#answering = new RelevanceHead(model);
    this.#languages = languageScorer({ type, engine, model, head: "meaning", treatment });
    this.#strategy = options.matchType;
    if (model.folder !== undefined) this.#relevance = readComparison(model.folder, "relevance");
  }

  async load(signal?: AbortSignal): Promise<void> {
    if (!(await this.#answering.load(signal))) await this.#meaning.load(signal);
    await this.#languages.load();
  }

  /**
   * Returns a language that the model was not trained in, if most of the prompt or of the text is in such languages. Their vectors may be
   * far apart, whatever they mean.
   */
  async untrainedLanguage(prompt: string, text: string, context: CallContext): Promise<string | undefined> {
    const [ofPrompt = [], ofText = []] = await Promise.all(
      [prompt, text].map((each) => this.#languages.untrainedParts(each, context)),
    );
    const isMost = (whole: string, parts: readonly UntrainedPart[]) => 2 * lengthOf(parts) > whole.length;
    if (!isMost(text, ofText) && !isMost(prompt, ofPrompt)) return undefined;
    return [...ofText, ...ofPrompt][0]?.language ?? "und";
  }

  /** Returns the probability that a text answers a prompt, or {@link NOTHING_TO_COMPARE}. */
  async compare(
    prompt: string,
    text: string,
    context: CallContext,
  ): Promise<{ relevance: number; coverage: Coverage }> {
    if (await this.#answering.readsOnlyPairs(context)) {
      const relevance = (await this.#answering.scoreAnswer(prompt, text, context)) ?? Number.NaN;
      return { relevance, coverage: wholeText(text, 1) };
    }
    const vectors = (whole: string) => this.#meaning.vectors(whole, this.#strategy, context);
    const [ofPrompt, ofText] = await Promise.all([vectors(prompt), vectors(text)]);
    const others = ofText.parts.map((part) => ({ ...part, score: 0 }));
    const coverage = coverageOf(text, { parts: others, others: [], skipped: ofText.skipped });
    this.#relevance ??= readComparison(this.model.folder, "relevance");
    const compare = this.#relevance;
    const pairs = await nearestPairs(ofPrompt.parts, ofText.parts, context);
    const scores = pairs.map(async ([asked, given, cosine]) => {
      const [question, answer] = [prompt.slice(asked.start, asked.end), text.slice(given.start, given.end)];
      const together = await this.#answering.scoreAnswer(question, answer, context);
      return together === NOTHING_TO_COMPARE ? NOTHING_TO_COMPARE : compare(cosine, together);
    });
    return { relevance: Math.max(NOTHING_TO_COMPARE, ...(await Promise.all(scores))), coverage };
  }
}

/** Returns the pairs of parts whose vectors are nearest to each other, and their cosines, the nearest pair first. */
async function nearestPairs(
  some: readonly PartEmbedding[],
  others: readonly PartEmbedding[],
  context: CallContext,
): Promise<[PartEmbedding, PartEmbedding, number][]> {
  let best: [number, number, number][] = [];
  const vectorsOf = (parts: readonly PartEmbedding[]) => parts.map(({ vector }) => vector);
  const visit = (a: number, b: number, cosine: number) => {
    if (best.length === CANDIDATES && cosine <= (best.at(-1)?.[2] ?? -1)) return;
    // NaN comes first, so that it never counts as "far apart".
    best = [...best, [a, b, cosine] as [number, number, number]]
      .sort(([, , x], [, , y]) => (Number.isNaN(x) ? -1 : Number.isNaN(y) ? 1 : y - x))
      .slice(0, CANDIDATES);
  };
  await visitCosines(vectorsOf(some), vectorsOf(others), visit, context);
  return best.map(([a, b, cosine]) => [some[a] as PartEmbedding, others[b] as PartEmbedding, cosine]);
}
