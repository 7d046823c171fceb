import type { Abortable } from "../native.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { Span } from "../text/span.ts";
import type { CallContext } from "./call-context.ts";
import type { LongTextStrategy } from "./long-text-strategy.ts";
import type { TextModel } from "./text-model.ts";

/** The head with embeddings in guard's own models. */
const HEAD = "meaning";

/** A part of a text and its embedding. */
export interface PartEmbedding extends Span {
  vector: readonly number[];
}

/** Embeds texts with the head `meaning` of a model, or with its first head that computes vectors. */
export class EmbeddingHead {
  readonly #model: TextModel;
  /** The index of the head. */
  #head: number | undefined;

  constructor(model: TextModel) {
    this.#model = model;
  }

  /**
   * Loads the model.
   *
   * @throws GuardValidationError with the path `model` if it computes no vectors.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    this.#head ??= await this.#locate({ signal });
  }

  /** Returns the embeddings of the parts of a text. */
  async vectors(
    text: string,
    strategy: LongTextStrategy,
    context: CallContext = {},
  ): Promise<{ parts: PartEmbedding[]; skipped: number }> {
    this.#head ??= await this.#locate(context);
    const head = this.#head;
    const { parts, skippedChars } = await this.#model.classify(text, { strategy }, context);
    return {
      skipped: skippedChars,
      parts: parts.map(({ start, end, heads }) => ({ start, end, vector: heads[head] ?? [] })),
    };
  }

  async #locate(abortable: Abortable): Promise<number> {
    const { heads } = await this.#model.describe(abortable);
    const giving = heads.flatMap(({ name, isVector }, head) => (isVector ? [{ name, head }] : []));
    const found = giving.find(({ name }) => name === HEAD) ?? giving[0];
    if (found) return found.head;
    throw new GuardValidationError([
      { path: "model", message: "it is not an embedding model, because it computes no vectors" },
    ]);
  }
}
