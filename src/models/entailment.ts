import { GuardValidationError } from "../errors.ts";
import type { ModelHead } from "../native.ts";
import type { Classifier } from "./model.ts";

/** Tokens of the shortest pair: one of each text, and the four that XLM-RoBERTa has around and between them. */
const SHORTEST = 6;

/** What a part of a premise says of a part of a claim. */
export interface Support {
  /** Place in the premise. */
  start: number;
  end: number;
  /** Place in the claim, which is one part unless it is long. */
  claimStart: number;
  claimEnd: number;
  /** The probability that the claim follows. */
  entailment: number;
  /** The probability that it is wrong then; 0 of a model that does not tell. */
  contradiction: number;
}

/** Where the labels of natural language inference stand in a model's answer. */
interface Places {
  head: number;
  entailment: number;
  contradiction: number;
}

/** Natural language inference: whether a claim follows from a premise. */
export class EntailmentHead {
  readonly #model: Classifier;
  #places: Places | undefined;

  constructor(model: Classifier) {
    this.#model = model;
  }

  /** Whether a model of these heads can infer. */
  static isIn(heads: readonly ModelHead[]): boolean {
    return placesOf(heads) !== undefined;
  }

  /**
   * Loads the model.
   *
   * @throws GuardValidationError with the path `model` where it has no label for entailment, and `modelMaxLength` where it is too
   *   short for a pair.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    this.#places ??= await this.#locate(signal);
  }

  /** Judges a claim by each part of a premise; none where one of the two has no token. */
  async judge(premise: string, claim: string, signal?: AbortSignal): Promise<Support[]> {
    this.#places ??= await this.#locate(signal);
    const { head, entailment, contradiction } = this.#places;
    const parts = await this.#model.classifyPair(premise, claim, signal);
    return parts.map(({ heads, ...place }) => ({
      ...place,
      entailment: heads[head]?.[entailment] ?? Number.NaN,
      contradiction: contradiction < 0 ? 0 : (heads[head]?.[contradiction] ?? Number.NaN),
    }));
  }

  async #locate(signal?: AbortSignal): Promise<Places> {
    const { heads, maxLength } = await this.#model.described(signal);
    const found = placesOf(heads);
    if (found && maxLength < SHORTEST) {
      const message = `a pair of texts needs ${SHORTEST} tokens, and the model reads ${maxLength} at a time`;
      throw new GuardValidationError([{ path: "modelMaxLength", message }]);
    }
    if (found) return found;
    const known = heads.flatMap(({ labels }) => labels).join(", ");
    const message = `it has no label entailment, so that it is no model for inference; its labels are: ${known}`;
    throw new GuardValidationError([{ path: "model", message }]);
  }
}

function placesOf(heads: readonly ModelHead[]): Places | undefined {
  const labels = heads.map((head) => head.labels.map((label) => label.toLowerCase()));
  const head = labels.findIndex((ofHead) => ofHead.includes("entailment"));
  const ofHead = labels[head];
  return ofHead && { head, entailment: ofHead.indexOf("entailment"), contradiction: ofHead.indexOf("contradiction") };
}
