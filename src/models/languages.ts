import { native } from "../native.ts";
import { mapRows } from "../text/rows.ts";
import type { Span } from "../text/span.ts";
import { type CallContext, shareAnswer } from "./call-context.ts";
import type { LinearClassifier } from "./linear.ts";

/** A language by its ISO 639-1 code, and its probability. */
export interface LanguageGuess {
  language: string;
  probability: number;
}

/** A part of a text: in a known language, or in the one that it names. */
export interface ForeignPart extends Span {
  /** An ISO 639-1 code, or `und-` and the ISO 15924 code of a script whose languages cannot be told apart. */
  language?: string;
}

/**
 * Codes of languages that the model knows under another code. For example, the model treats the two forms of Norwegian as one
 * language.
 */
const SAME: Readonly<Record<string, string>> = { nb: "no", nn: "no", fil: "tl", iw: "he", in: "id", sh: "sr" };

/** The code under which the model knows a language. */
export function knownAs(language: string): string {
  return SAME[language] ?? language;
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

  /** Loads the model. Otherwise the first text does it. */
  async load(): Promise<void> {
    await this.#model.load();
  }

  /**
   * Cuts a text into parts, from its beginning to its end: those in languages that a model knows, and those in others.
   *
   * @param known the languages that the model knows, by their ISO 639-1 codes.
   * @param familiar languages that are named even where the detector is not sure of them.
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
