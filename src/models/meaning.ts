import type { Abortable } from "../native.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { Span } from "../text/span.ts";
import type { CallContext } from "./call-context.ts";
import type { LongTextStrategy } from "./long-text-strategy.ts";
import type { TextModel } from "./text-model.ts";

/** The head of guard's own models that gives vectors. */
const HEAD = "meaning";

/** A part of a text and the vector that stands for what it means. */
export interface PartVector extends Span {
  vector: readonly number[];
}

/** The vectors of a model: of its head `meaning`, or of the first one that gives vectors. */
export class MeaningHead {
  readonly #model: TextModel;
  /** The index of the head among those of the model. */
  #head: number | undefined;

  constructor(model: TextModel) {
    this.#model = model;
  }

  /**
   * Loads the model.
   *
   * @throws GuardValidationError with the path `model` where it gives no vectors.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    this.#head ??= await this.#locate({ signal });
  }

  /** The vectors of the parts of a text. */
  async vectors(
    text: string,
    strategy: LongTextStrategy,
    context: CallContext = {},
  ): Promise<{ parts: PartVector[]; skipped: number }> {
    this.#head ??= await this.#locate(context);
    const head = this.#head;
    const { parts, skippedChars } = await this.#model.classify(text, { strategy }, context);
    return {
      skipped: skippedChars,
      parts: parts.map(({ start, end, heads }) => ({ start, end, vector: heads[head] ?? [] })),
    };
  }

  async #locate(abortable: Abortable): Promise<number> {
    const { heads } = await this.#model.described(abortable);
    const giving = heads.flatMap(({ name, isVector }, head) => (isVector ? [{ name, head }] : []));
    const found = giving.find(({ name }) => name === HEAD) ?? giving[0];
    if (found) return found.head;
    throw new GuardValidationError([{ path: "model", message: "it gives no vectors: it is no embedding model" }]);
  }
}
