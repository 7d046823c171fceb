import { GuardValidationError } from "../errors.ts";
import type { Span } from "../span.ts";
import type { Classifier, Reading } from "./model.ts";
import type { Passes } from "./passes.ts";

/** The head of guard's own models that gives vectors. */
const HEAD = "meaning";

/** A part of a text and the vector that stands for what it means. */
export interface PartVector extends Span {
  vector: readonly number[];
}

/** The vectors of a model: of its head `meaning`, or of the first one that gives vectors. */
export class MeaningHead {
  readonly #model: Classifier;
  #place: number | undefined;

  constructor(model: Classifier) {
    this.#model = model;
  }

  /**
   * Loads the model.
   *
   * @throws GuardValidationError with the path `model` where it gives no vectors.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    this.#place ??= await this.#locate(signal);
  }

  /** The vectors of the parts of a text. */
  async vectors(
    text: string,
    reading: Reading,
    signal?: AbortSignal,
    passes?: Passes,
  ): Promise<{ parts: PartVector[]; skipped: number }> {
    this.#place ??= await this.#locate(signal);
    const place = this.#place;
    const { parts, skippedChars } = await this.#model.classify(text, reading, signal, passes);
    return {
      skipped: skippedChars,
      parts: parts.map(({ start, end, heads }) => ({ start, end, vector: heads[place] ?? [] })),
    };
  }

  async #locate(signal?: AbortSignal): Promise<number> {
    const { heads } = await this.#model.described(signal);
    const giving = heads.flatMap(({ name, isVector }, place) => (isVector ? [{ name, place }] : []));
    const found = giving.find(({ name }) => name === HEAD) ?? giving[0];
    if (found) return found.place;
    throw new GuardValidationError([{ path: "model", message: "it gives no vectors: it is no embedding model" }]);
  }
}
