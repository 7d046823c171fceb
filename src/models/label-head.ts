import type { Abortable, ModelHead } from "../native.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { Span } from "../text/span.ts";
import type { CallContext } from "./call-context.ts";
import type { LongTextStrategy } from "./long-text-strategy.ts";
import { screened } from "./screen.ts";
import type { TextModel } from "./text-model.ts";

/** The probability of each label of a part that was screened: that of parts that leave the models of guard early. */
const SCREENED = 1 / (1 + Math.exp(5));

/** The probability of one label. */
export interface LabelScore {
  label: string;
  score: number;
}

/** A part of a text with the probabilities of the labels that were asked for. */
export interface PartLabels extends Span {
  labels: LabelScore[];
}

/**
 * The same, together with everything that the model's heads say about the part: one list of probabilities for each head, empty for heads
 * that were not asked.
 */
export interface ScoredLabels extends PartLabels {
  heads: readonly (readonly number[])[];
}

/** Which labels of a model are asked for. */
export interface WantedLabels {
  /** The head of guard's own models that has them. */
  head: string;
  /** The labels, in any case unless `caseSensitive` is set. */
  labels: readonly string[];
  /** Whether upper and lower case differ. Default false. */
  caseSensitive?: boolean;
  /** Whether the model must have all of the labels, as it must if a user names them. Otherwise one of them is enough. */
  all: boolean;
  /** The option that names them. */
  option: string;
}

/** The indices of labels in a model's answer. */
export interface LabelIndices {
  /** The index of their head among the model's heads. */
  head: number;
  /** The labels that were asked for, each with its index among the labels of the head. */
  labels: { label: string; index: number }[];
  /** Whether each label stands for itself; otherwise the probabilities of all labels of the head add up to one. */
  multiLabel: boolean;
  /** All heads of the model. */
  heads: readonly ModelHead[];
}

/**
 * Some labels of a model that judges texts. They belong to the head with a given name or, if there is no such head, to the
 * first head that has them.
 */
export class LabelHead {
  readonly #model: TextModel;
  readonly #wanted: WantedLabels;
  #indices: LabelIndices | undefined;

  constructor(model: TextModel, wanted: WantedLabels) {
    this.#model = model;
    this.#wanted = wanted;
  }

  /**
   * Loads the model and looks its labels up.
   *
   * @throws GuardValidationError where the model does not have the labels.
   */
  async load(signal?: AbortSignal): Promise<LabelIndices> {
    await this.#model.load(signal);
    return this.described({ signal });
  }

  /** Returns what {@link load} returns, but downloads nothing, so that it can be used while a text waits. */
  async described(abortable: Abortable = {}): Promise<LabelIndices> {
    return this.#indices ?? this.#locate(abortable);
  }

  /** The probabilities of the labels for each part of a text. */
  async score(
    text: string,
    strategy: LongTextStrategy,
    context: CallContext = {},
  ): Promise<{ parts: ScoredLabels[]; skipped: number }> {
    const { head, labels, heads: all } = this.#indices ?? (await this.#locate(context));
    const asked = all[head];
    const sure = asked && (await screened(text, this.#model, asked, context));
    if (sure) {
      const none = labels.map(({ label }) => ({ label, score: SCREENED }));
      return { skipped: 0, parts: sure.map((part) => ({ heads: [], labels: none, ...part })) };
    }
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
    const { heads } = await this.#model.described(abortable);
    const { head: name, all, option, caseSensitive = false } = this.#wanted;
    const keyOf = (label: string) => (caseSensitive ? label : label.toLowerCase());
    // A label that is named twice must not count twice.
    const spellings = new Map(this.#wanted.labels.map((label) => [keyOf(label), label]));
    const wanted = [...spellings.keys()];
    const candidates = heads.map(({ name, labels, multiLabel }, head) => {
      const known = new Map(labels.map((label, index) => [keyOf(label), { label, index }]));
      return { name, head, labels: wanted.flatMap((label) => known.get(label) ?? []), multiLabel };
    });
    // Another head answers another question: anger, for example, is not toxicity.
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
