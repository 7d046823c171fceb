import type { Abortable, ModelHead } from "../native.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { Span } from "../text/span.ts";
import type { CallContext } from "./call-context.ts";
import type { TextModel } from "./text-model.ts";

/**
 * The number of tokens of the shortest pair: one token from each text, and the four that XLM-RoBERTa puts around and between
 * them.
 */
const SHORTEST = 6;

/** What a span of a premise says about a span of a claim. */
export interface Support extends Span {
  /** The span of the claim, in UTF-16 code units; all of the claim unless it is long. */
  claimStart: number;
  claimEnd: number;
  /** The probability that the claim follows. */
  entailment: number;
  /** The probability that the premise contradicts the claim. It is 0 if the model has no such label. */
  contradiction: number;
}

/** The indices of the labels of natural language inference in a model's answer. */
interface LabelIndices {
  head: number;
  entailment: number;
  /** -1 where the model has no such label. */
  contradiction: number;
}

/** Natural language inference: whether a claim follows from a premise. */
export class EntailmentHead {
  readonly #model: TextModel;
  #indices: LabelIndices | undefined;

  constructor(model: TextModel) {
    this.#model = model;
  }

  /** Tells whether a model with these heads can judge entailment. */
  static isIn(heads: readonly ModelHead[]): boolean {
    return indicesOf(heads) !== undefined;
  }

  /**
   * Loads the model.
   *
   * @throws GuardValidationError with the path `model` where it has no label for entailment, and `modelMaxLength` where it is too
   *   short for a pair.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    this.#indices ??= await this.#locate({ signal });
  }

  /**
   * Judges claims by each part of a premise, with one call of the model. A claim that occurs twice is judged once.
   *
   * @returns for each claim what the parts of the premise say about it. The list is empty if the claim or the premise has no
   * token.
   */
  async judge(premise: string, claims: readonly string[], context: CallContext = {}): Promise<Support[][]> {
    this.#indices ??= await this.#locate(context);
    const { head, entailment, contradiction } = this.#indices;
    const distinct = [...new Set(claims)];
    const judged = await this.#model.judge(premise, distinct, context);
    const supports = judged.map((parts) =>
      parts.map(({ start, end, claimStart, claimEnd, heads }) => ({
        ...{ start, end, claimStart, claimEnd },
        entailment: heads[head]?.[entailment] ?? Number.NaN,
        contradiction: contradiction < 0 ? 0 : (heads[head]?.[contradiction] ?? Number.NaN),
      })),
    );
    const byClaim = new Map(distinct.map((claim, index) => [claim, supports[index] ?? []]));
    return claims.map((claim) => byClaim.get(claim) ?? []);
  }

  async #locate(abortable: Abortable): Promise<LabelIndices> {
    const { heads, maxLength } = await this.#model.described(abortable);
    const found = indicesOf(heads);
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

function indicesOf(heads: readonly ModelHead[]): LabelIndices | undefined {
  const labels = heads.map((head) => head.labels.map((label) => label.toLowerCase()));
  const head = labels.findIndex((ofHead) => ofHead.includes("entailment"));
  const ofHead = labels[head];
  return ofHead && { head, entailment: ofHead.indexOf("entailment"), contradiction: ofHead.indexOf("contradiction") };
}
