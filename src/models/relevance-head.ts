import type { Abortable, ModelHead } from "../native.ts";
import type { CallContext } from "./call-context.ts";
import type { TextModel } from "./text-model.ts";

/** The head that reads a prompt and an answer together in models with several heads, and its label. */
const HEAD = "relevance";
const LABEL = "relevant";

/** Where a model's answer has the probability that an answer is relevant to its prompt. */
interface LabelPosition {
  head: number;
  label: number;
  /** Whether the model also computes embeddings, with which the windows of long texts can be chosen. */
  hasEmbeddings: boolean;
}

/**
 * Scores how relevant an answer is to its prompt with a cross-encoder, a model that reads both at once. That is the head `relevance` of a
 * model with several heads, or a model with a single label, such as passage rankers.
 */
export class RelevanceHead {
  readonly #model: TextModel;

  constructor(model: TextModel) {
    this.#model = model;
  }

  /** Loads the model and returns whether it is a cross-encoder. */
  async load(signal?: AbortSignal): Promise<boolean> {
    await this.#model.load(signal);
    return (await this.#locate({ signal })) !== undefined;
  }

  /** Whether the model reads nothing but pairs of texts. */
  async readsOnlyPairs(abortable: Abortable = {}): Promise<boolean> {
    return (await this.#locate(abortable))?.hasEmbeddings === false;
  }

  /**
   * Returns the highest probability that any part of the answer is relevant to any part of the prompt.
   *
   * @returns -1 if one of the two has no token, and undefined if the model is not a cross-encoder.
   */
  async scoreAnswer(prompt: string, answer: string, context: CallContext = {}): Promise<number | undefined> {
    const position = await this.#locate(context);
    if (!position) return undefined;
    const [parts = []] = await this.#model.scoreClaims(prompt, [answer], context);
    const probabilities = parts.map(({ heads }) => heads[position.head]?.[position.label] ?? Number.NaN);
    // Math.max keeps NaN, so that it never passes for a score.
    return probabilities.reduce((best, each) => Math.max(best, each), -1);
  }

  async #locate(abortable: Abortable): Promise<LabelPosition | undefined> {
    return findLabel((await this.#model.describe(abortable)).heads);
  }
}

function findLabel(heads: readonly ModelHead[]): LabelPosition | undefined {
  const hasEmbeddings = heads.some(({ isVector }) => isVector);
  const named = heads.findIndex(({ name }) => name === HEAD);
  const label = heads[named]?.labels.indexOf(LABEL) ?? -1;
  if (label >= 0) return { head: named, label, hasEmbeddings };
  const [only] = heads;
  const isAlone = heads.length === 1 && only?.labels.length === 1 && !only.isVector;
  return isAlone ? { head: 0, label: 0, hasEmbeddings } : undefined;
}
