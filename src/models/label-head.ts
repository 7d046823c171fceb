import { GuardValidationError } from "../errors.ts";
import type { Classifier, Reading } from "./model.ts";
import type { Passes } from "./passes.ts";

/** The probability of one label. */
export interface LabelScore {
  label: string;
  score: number;
}

/** A part of a text with the probabilities of the labels that were asked for. */
export interface PartLabels {
  start: number;
  end: number;
  labels: LabelScore[];
}

/** Which labels of a model are asked for. */
export interface WantedLabels {
  /** The head of guard's own models that has them. */
  head: string;
  /** The labels, in any case. */
  labels: readonly string[];
  /** Whether the model must have all of them, as those that a user names; otherwise one is enough. */
  all: boolean;
  /** The option that names them. */
  option: string;
}

/** Where the labels stand in a model's answer. */
interface Places {
  head: number;
  labels: { label: string; index: number }[];
  multiLabel: boolean;
}

/** Some labels of a model that judges texts: of its head of a certain name, or where there is none, of the first one that has them. */
export class LabelHead {
  readonly #model: Classifier;
  readonly #wanted: WantedLabels;
  #places: Places | undefined;

  constructor(model: Classifier, wanted: WantedLabels) {
    this.#model = model;
    this.#wanted = wanted;
  }

  /**
   * Loads the model and looks its labels up.
   *
   * @returns whether each label stands for itself; otherwise the probabilities of all labels of the head add up to one.
   * @throws GuardValidationError where the model does not have the labels.
   */
  async load(signal?: AbortSignal): Promise<{ multiLabel: boolean }> {
    await this.#model.load(signal);
    return this.described(signal);
  }

  /** What {@link load} returns, of a model that is here: for what happens while a text waits. */
  async described(signal?: AbortSignal): Promise<{ multiLabel: boolean }> {
    return this.#places ?? this.#locate(signal);
  }

  /** The probabilities of the labels for each part of a text. */
  async score(
    text: string,
    reading: Reading,
    signal?: AbortSignal,
    passes?: Passes,
  ): Promise<{ parts: PartLabels[]; skipped: number }> {
    const { head, labels } = this.#places ?? (await this.#locate(signal));
    const { parts, skippedChars } = await this.#model.classify(text, reading, signal, passes);
    return {
      skipped: skippedChars,
      parts: parts.map(({ start, end, heads }) => ({
        start,
        end,
        labels: labels.map(({ label, index }) => ({ label, score: heads[head]?.[index] ?? Number.NaN })),
      })),
    };
  }

  async #locate(signal?: AbortSignal): Promise<Places> {
    const { heads } = await this.#model.described(signal);
    const { head: name, all, option } = this.#wanted;
    // One that is named twice must not count twice.
    const wanted = [...new Set(this.#wanted.labels.map((label) => label.toLowerCase()))];
    const candidates = heads.map(({ name, labels, multiLabel }, head) => {
      const known = new Map(labels.map((label, index) => [label.toLowerCase(), { label, index }]));
      const found = wanted.flatMap((label) => known.get(label) ?? []);
      return { name, head, labels: found, multiLabel };
    });
    // What another head says is something else: anger is no toxicity.
    const own = candidates.filter((candidate) => candidate.name === name);
    const possible = own.length > 0 ? own : candidates;
    const place = possible.find(({ labels }) => labels.length >= (all ? wanted.length : 1));
    if (!place) {
      const known = possible.flatMap(({ head }) => heads[head]?.labels ?? []);
      const unknown = wanted.filter((label) => !known.some((other) => other.toLowerCase() === label));
      const missing = (unknown.length > 0 ? unknown : wanted).join(all ? ", " : " or ");
      const message = `the model has no label ${missing}; its labels are: ${known.join(", ")}`;
      throw new GuardValidationError([{ path: option, message }]);
    }
    this.#places = place;
    return place;
  }
}
