import { GuardValidationError } from "../errors.ts";
import type { ModelHead } from "../native.ts";
import type { Span } from "../text/span.ts";
import type { AnswerCache } from "./answer-cache.ts";
import type { Reading } from "./reading.ts";
import type { TextModel } from "./text-model.ts";

/** The probability of one label. */
export interface LabelScore {
  label: string;
  score: number;
}

/** A part of a text with the probabilities of the labels that were asked for. */
export interface PartLabels extends Span {
  labels: LabelScore[];
}

/** The same with all that the model's heads say of the part: one list of probabilities a head. */
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
  /** Whether the model must have all of them, as those that a user names; otherwise one is enough. */
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

/** Some labels of a model that judges texts: of its head of a certain name, or where there is none, of the first one that has them. */
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
    return this.described(signal);
  }

  /** What {@link load} returns, of a model that is here: for what happens while a text waits. */
  async described(signal?: AbortSignal): Promise<LabelIndices> {
    return this.#indices ?? this.#locate(signal);
  }

  /** The probabilities of the labels for each part of a text. */
  async score(
    text: string,
    reading: Reading,
    signal?: AbortSignal,
    answers?: AnswerCache,
  ): Promise<{ parts: ScoredLabels[]; skipped: number }> {
    const { head, labels } = this.#indices ?? (await this.#locate(signal));
    const { parts, skippedChars } = await this.#model.classify(text, reading, signal, answers);
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

  async #locate(signal?: AbortSignal): Promise<LabelIndices> {
    const { heads } = await this.#model.described(signal);
    const { head: name, all, option, caseSensitive = false } = this.#wanted;
    const keyOf = (label: string) => (caseSensitive ? label : label.toLowerCase());
    // A label that is named twice must not count twice.
    const spellings = new Map(this.#wanted.labels.map((label) => [keyOf(label), label]));
    const wanted = [...spellings.keys()];
    const candidates = heads.map(({ name, labels, multiLabel }, head) => {
      const known = new Map(labels.map((label, index) => [keyOf(label), { label, index }]));
      return { name, head, labels: wanted.flatMap((label) => known.get(label) ?? []), multiLabel };
    });
    // What another head says is something else: anger is no toxicity.
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
