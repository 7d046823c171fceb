import type { Abortable, ModelHead } from "../native.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { Span } from "../text/span.ts";
import type { CallContext } from "./call-context.ts";
import type { LongTextStrategy } from "./long-text-strategy.ts";
import type { TextModel } from "./text-model.ts";

/** The probability of one label. */
export interface LabelScore {
  label: string;
  score: number;
}

/** A part of a text with the probabilities of the queried labels. */
export interface PartLabels extends Span {
  labels: LabelScore[];
}

/** A part with the probabilities of all heads: one list for each head, which is empty for heads that were not computed. */
export interface ScoredLabels extends PartLabels {
  heads: readonly (readonly number[])[];
}

/** Which labels of a model to score. */
export interface LabelQuery {
  /** The head that has the labels in guard's own models. */
  head: string;
  /** The labels. Case does not matter unless `caseSensitive` is set. */
  labels: readonly string[];
  /** Whether case matters. The default is false. */
  caseSensitive?: boolean;
  /** Whether the model must have all labels, as when a user names them. Otherwise one is enough. */
  all: boolean;
  /** The option that names the labels, for errors. */
  option: string;
}

/** Where the labels are in a model's answer. */
export interface LabelIndices {
  /** The index of their head among the model's heads. */
  head: number;
  /** The queried labels with their indices among the labels of the head. */
  labels: { label: string; index: number }[];
  /** Whether labels are independent. Otherwise the probabilities of all labels of the head add up to 1. */
  multiLabel: boolean;
  /** All heads of the model. */
  heads: readonly ModelHead[];
}

/** Scores labels of a model. They belong to the head with the given name or, without such a head, to the first head that has them. */
export class LabelHead {
  readonly #model: TextModel;
  readonly #wanted: LabelQuery;
  #indices: LabelIndices | undefined;

  constructor(model: TextModel, wanted: LabelQuery) {
    this.#model = model;
    this.#wanted = wanted;
  }

  /**
   * Loads the model and finds the labels.
   *
   * @throws GuardValidationError if the model does not have the labels.
   */
  async load(signal?: AbortSignal): Promise<LabelIndices> {
    await this.#model.load(signal);
    return this.describe({ signal });
  }

  /** Returns what {@link load} returns, but downloads nothing, so that it is fit for a scan. */
  async describe(abortable: Abortable = {}): Promise<LabelIndices> {
    return this.#indices ?? this.#locate(abortable);
  }

  /** Scores the labels for each part of a text. */
  async score(
    text: string,
    strategy: LongTextStrategy,
    context: CallContext = {},
  ): Promise<{ parts: ScoredLabels[]; skipped: number }> {
    const { head, labels, heads: all } = this.#indices ?? (await this.#locate(context));
    const asked = all[head];
    const { parts, skippedChars } = await this.#model.classify(text, { strategy, head: asked }, context);
    return {
      skipped: skippedChars,
      parts: parts.map(({ start, end, heads }) => ({
        start,
        end,
        heads,
        labels: labels.map(({ label, index }) => ({ label, score: heads[head]?.[index] ?? Number.NaN })),
      })),
    };
  }

  async #locate(abortable: Abortable): Promise<LabelIndices> {
    const { heads } = await this.#model.describe(abortable);
    const { head: name, all, option, caseSensitive = false } = this.#wanted;
    const keyOf = (label: string) => (caseSensitive ? label : label.toLowerCase());
    // A duplicate label must not count twice.
    const spellings = new Map(this.#wanted.labels.map((label) => [keyOf(label), label]));
    const wanted = [...spellings.keys()];
    const candidates = heads.map(({ name, labels, multiLabel }, head) => {
      const known = new Map(labels.map((label, index) => [keyOf(label), { label, index }]));
      return { name, head, labels: wanted.flatMap((label) => known.get(label) ?? []), multiLabel };
    });
    // Other heads answer other questions: anger, for example, is not toxicity.
    const own = candidates.filter((candidate) => candidate.name === name);
    const possible = own.length > 0 ? own : candidates;
    const found = possible.find(({ labels }) => labels.length >= (all ? wanted.length : 1));
    if (!found) {
      const known = possible.flatMap(({ head }) => heads[head]?.labels ?? []);
      const unknown = wanted.filter((label) => !known.some((other) => keyOf(other) === label));
      const missing = (unknown.length > 0 ? unknown : wanted)
        .map((label) => spellings.get(label))
        .join(all ? ", " : " or ");
      const message = `the model has no label ${missing}; its labels are: ${known.join(", ")}`;
      throw new GuardValidationError([{ path: option, message }]);
    }
    const { head, labels, multiLabel } = found;
    this.#indices = { head, labels, multiLabel, heads };
    return this.#indices;
  }
}
