import type { Abortable, ModelHead } from "../native.ts";
import type { CallContext } from "./call-context.ts";
import type { TextModel } from "./text-model.ts";

/** The head of a model with several heads that reads a prompt and an answer together, and its label. */
const HEAD = "relevance";
const LABEL = "relevant";

/** Where a model says whether an answer has to do with its prompt. */
interface Place {
  head: number;
  label: number;
  /** Whether the model gives vectors, too, by which the windows of long texts can be chosen. */
  givesVectors: boolean;
}

/**
 * Whether an answer has to do with its prompt, from a model that reads both at once: a cross-encoder. It is the head `relevance` of
 * a model with several, or a model with one label and no more, as those are that rank passages by a question.
 */
export class AnsweringHead {
  readonly #model: TextModel;

  constructor(model: TextModel) {
    this.#model = model;
  }

  /** Loads the model. Returns whether it is a cross-encoder. */
  async load(signal?: AbortSignal): Promise<boolean> {
    await this.#model.load(signal);
    return (await this.#locate({ signal })) !== undefined;
  }

  /** Tells whether the model can only be asked about pairs of texts. */
  async readsOnlyPairs(abortable: Abortable = {}): Promise<boolean> {
    return (await this.#locate(abortable))?.givesVectors === false;
  }

  /**
   * Tells how surely some part of an answer answers some part of a prompt.
   *
   * @returns the highest probability of all pairs of parts; -1 where one of the two has no token, and undefined where the model is no
   *   cross-encoder.
   */
  async judge(prompt: string, answer: string, context: CallContext = {}): Promise<number | undefined> {
    const place = await this.#locate(context);
    if (!place) return undefined;
    const [parts = []] = await this.#model.judge(prompt, [answer], context);
    const probabilities = parts.map(({ heads }) => heads[place.head]?.[place.label] ?? Number.NaN);
    // NaN stays NaN, so that it never reads as an answer.
    return probabilities.reduce((best, each) => Math.max(best, each), -1);
  }

  async #locate(abortable: Abortable): Promise<Place | undefined> {
    return placeIn((await this.#model.described(abortable)).heads);
  }
}

function placeIn(heads: readonly ModelHead[]): Place | undefined {
  const givesVectors = heads.some(({ isVector }) => isVector);
  const named = heads.findIndex(({ name }) => name === HEAD);
  const label = heads[named]?.labels.indexOf(LABEL) ?? -1;
  if (label >= 0) return { head: named, label, givesVectors };
  const [only] = heads;
  const isAlone = heads.length === 1 && only?.labels.length === 1 && !only.isVector;
  return isAlone ? { head: 0, label: 0, givesVectors } : undefined;
}
