import { native } from "../native.ts";
import { mapRows } from "../text/rows.ts";
import type { Span } from "../text/span.ts";
import { type CallContext, shareAnswer } from "./call-context.ts";
import type { LinearClassifier } from "./linear-classifier.ts";

/** A language by its ISO 639-1 code, and its probability. */
export interface LanguageGuess {
  language: string;
  probability: number;
}

/** A part of a text in a language that the model knows, or else in the `language` named here. */
export interface ForeignPart extends Span {
  /** An ISO 639-1 code, or `und-` and the ISO 15924 code of a script whose languages cannot be told apart. */
  language?: string;
}

/** The codes under which the detector knows other codes. For example, it treats the two forms of Norwegian as one language. */
const ALIASES: Readonly<Record<string, string>> = { nb: "no", nn: "no", fil: "tl", iw: "he", in: "id", sh: "sr" };

/** Returns the code under which the detector knows a language. */
export function canonicalLanguage(language: string): string {
  return ALIASES[language] ?? language;
}

/** Recognizes languages with a linear model whose labels are ISO 639-1 codes. */
export class LanguageDetector {
  readonly #model: LinearClassifier;

  /** @param model a linear model whose labels are ISO 639-1 codes. */
  constructor(model: LinearClassifier) {
    this.#model = model;
  }

  /** The model's folder. */
  get folder(): string {
    return this.#model.folder;
  }

  /** Loads the model before the first text needs it. */
  async load(): Promise<void> {
    await this.#model.load();
  }

  /**
   * Splits a text into parts in languages that another model knows and parts in other languages. The parts cover the whole text.
   *
   * @param known the languages that the other model knows, as ISO 639-1 codes.
   * @param familiar languages that are named even if the detector is not sure of them.
   */
  foreignParts(
    text: string,
    { known, familiar = [] }: { known: readonly string[]; familiar?: readonly string[] },
    context: CallContext = {},
  ): Promise<ForeignPart[]> {
    const make = async () => {
      const model = await this.#model.load();
      const { parts, languages } = await native(() => model.foreignParts(text, [...known], [...familiar]), context);
      return mapRows(parts, 3, (column): ForeignPart => {
        const language = languages[column(2)];
        const part = { start: column(0), end: column(1) };
        return language === undefined ? part : { ...part, language };
      });
    };
    const question = `parts ${this.folder} ${known.join()} ${familiar.join()}`;
    return shareAnswer(context, question, text, make);
  }

  /** Frees the model. */
  close(): Promise<void> {
    return this.#model.close();
  }
}
