import type { Abortable, ModelHead } from "../native.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { Span } from "../text/span.ts";
import type { CallContext } from "./call-context.ts";
import type { TextModel } from "./text-model.ts";

/** The number of tokens in the shortest pair: one from each text, and the four that XLM-RoBERTa puts around and between them. */
const MIN_TOKENS = 6;

/** How far a span of a premise supports a span of a claim. */
export interface Support extends Span {
  /** The span of the claim, in UTF-16 code units. It covers the whole claim unless that is long. */
  claimStart: number;
  claimEnd: number;
  /** The probability that the claim follows. */
  entailment: number;
  /** The probability that the premise contradicts the claim, or 0 if the model has no such label. */
  contradiction: number;
}

/** Where the labels of natural language inference are in a model's answer. */
interface LabelIndices {
  head: number;
  entailment: number;
  /** -1 if the model has no such label. */
  contradiction: number;
}

/** Natural language inference: scores whether a claim follows from a premise. */
export class EntailmentHead {
  readonly #model: TextModel;
  #indices: LabelIndices | undefined;

  constructor(model: TextModel) {
    this.#model = model;
  }

  /** Whether a model with these heads can score entailment. */
  static isIn(heads: readonly ModelHead[]): boolean {
    return indicesOf(heads) !== undefined;
  }

  /**
   * Loads the model.
   *
   * @throws GuardValidationError with the path `model` if it has no label for entailment, and `modelMaxLength` if a pair does not
   *   fit.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    this.#indices ??= await this.#locate({ signal });
  }

  /**
   * Scores claims against each part of a premise in one call of the model. Duplicate claims are scored once.
   *
   * @returns one list for each claim, with an entry for each part of the premise. It is empty if the claim or the premise has no token.
   */
  async scoreClaims(premise: string, claims: readonly string[], context: CallContext = {}): Promise<Support[][]> {
    this.#indices ??= await this.#locate(context);
    const { head, entailment, contradiction } = this.#indices;
    const distinct = [...new Set(claims)];
    const judged = await this.#model.scoreClaims(premise, distinct, context);
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
    const { heads, maxLength } = await this.#model.describe(abortable);
    const found = indicesOf(heads);
    if (found && maxLength < MIN_TOKENS) {
      const message = `a pair of texts needs ${MIN_TOKENS} tokens, but the model reads ${maxLength} at a time`;
      throw new GuardValidationError([{ path: "modelMaxLength", message }]);
    }
    if (found) return found;
    const known = heads.flatMap(({ labels }) => labels).join(", ");
    const message = `it is not a model for inference, because it has no label entailment; its labels are: ${known}`;
    throw new GuardValidationError([{ path: "model", message }]);
  }
}

function indicesOf(heads: readonly ModelHead[]): LabelIndices | undefined {
  const labels = heads.map((head) => head.labels.map((label) => label.toLowerCase()));
  const head = labels.findIndex((ofHead) => ofHead.includes("entailment"));
  const ofHead = labels[head];
  return ofHead && { head, entailment: ofHead.indexOf("entailment"), contradiction: ofHead.indexOf("contradiction") };
}
