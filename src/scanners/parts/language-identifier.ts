import type { CallContext } from "../../models/call-context.ts";
import { canonicalLanguage, type LanguageGuess } from "../../models/languages.ts";
import type { LinearClassifier } from "../../models/linear-classifier.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import { ALL_WINDOWS, type TextModel } from "../../models/text-model.ts";
import { addon, native } from "../../native.ts";
import { withPathPrefix } from "../../support/errors.ts";
import { mapRows } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import type { Build } from "../definition.ts";
import { classifierOption, classifierOptions } from "./model-options.ts";

/** The options of language scanners that say which model detects the languages. */
export const languageModelOptions = {
  model: classifierOption("embedded:language", "languages, whose labels are ISO 639-1 codes"),
  ...classifierOptions,
};

/** A text, or a part of it, with its likeliest unexpected language. */
export interface IdentifiedPart extends Span {
  /** The likeliest language that was not expected. It is absent if there is none, or if the text is too short. */
  other?: LanguageGuess | undefined;
  /** Whether the text is long enough to identify its language. */
  isLongEnough: boolean;
}

/** Identifies texts in other languages than the expected ones. */
export interface LanguageIdentifier {
  /** The folder of the model, if it has one on this machine. */
  readonly folder: string | undefined;
  load(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Compares a text as a whole, and each of its sentences, with languages by their ISO 639-1 codes. */
  others(
    text: string,
    expected: readonly string[],
    context: CallContext,
  ): Promise<{ whole: IdentifiedPart; sentences: IdentifiedPart[] }>;
  /** Compares an answer with its prompt. A text contains a language if the probability of the language is above `threshold`. */
  difference(prompt: string, answer: string, threshold: number, context: CallContext): Promise<IdentifiedPart>;
}

/** Creates an identifier from the model that the option `model` names: a linear model, or a classifier of the engine. */
export function languageIdentifier({
  options,
  engine,
}: Build<{ model: string; modelMaxLength?: number | undefined }>): LanguageIdentifier {
  const { model, modelMaxLength: maxLength } = options;
  return withPathPrefix("model", () =>
    engine.isLinear(model)
      ? new LinearIdentifier(engine.linear(model), engine.linear("embedded:code"))
      : new NeuralIdentifier(engine.model(model, { maxLength })),
  );
}

/** Identifies languages by a linear model. A second one finds code, which is in no language. */
class LinearIdentifier implements LanguageIdentifier {
  readonly #model: LinearClassifier;
  readonly #code: LinearClassifier;

  constructor(model: LinearClassifier, code: LinearClassifier) {
    this.#model = model;
    this.#code = code;
  }

  get folder(): string {
    return this.#model.folder;
  }

  async load(): Promise<void> {
    await Promise.all([this.#model.load(), this.#code.load()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#model.close(), this.#code.close()]);
  }

  async others(text: string, expected: readonly string[], { signal }: CallContext) {
    const [model, code] = await Promise.all([this.#model.load(), this.#code.load()]);
    const found = await native(() => model.checkLanguages(text, [...expected], code), { signal });
    const sentences = mapRows(found.sentences, 5, (column): IdentifiedPart => {
      const language = found.languages[column(3)];
      const other = language === undefined ? undefined : { language, probability: column(4) };
      return { start: column(0), end: column(1), isLongEnough: column(2) > 0, other };
    });
    return { whole: { start: 0, end: text.length, other: found.whole, isLongEnough: found.isDetectable }, sentences };
  }

  async difference(
    prompt: string,
    answer: string,
    threshold: number,
    { signal }: CallContext,
  ): Promise<IdentifiedPart> {
    const [model, code] = await Promise.all([this.#model.load(), this.#code.load()]);
    const { whole, isDetectable } = await native(() => model.checkAnswerLanguage(prompt, answer, threshold, code), {
      signal,
    });
    return { start: 0, end: answer.length, other: whole, isLongEnough: isDetectable };
  }
}

/** Identifies languages by a classifier of the engine, except in texts with too few words. */
class NeuralIdentifier implements LanguageIdentifier {
  readonly #model: TextModel;

  constructor(model: TextModel) {
    this.#model = model;
  }

  get folder(): string | undefined {
    return this.#model.folder;
  }

  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  async others(text: string, expected: readonly string[], context: CallContext) {
    const identified = async ({ start, end, guesses }: Span & { guesses: readonly LanguageGuess[] }) => {
      const isLongEnough = await native(() => addon.hasEnoughWords(text.slice(start, end)), context);
      const other = isLongEnough ? guesses.find(({ language }) => !expected.includes(language)) : undefined;
      return { start, end, other, isLongEnough };
    };
    const parts = await this.#guess(text, "windows", context);
    const whole = await identified({ start: 0, end: text.length, guesses: average(parts) });
    const sentences = await this.#guess(text, "sentence", context);
    return { whole, sentences: await Promise.all(sentences.map(identified)) };
  }

  async difference(prompt: string, answer: string, threshold: number, context: CallContext): Promise<IdentifiedPart> {
    const whole = { start: 0, end: answer.length, isLongEnough: false };
    const tells = await Promise.all([prompt, answer].map((text) => native(() => addon.hasEnoughWords(text), context)));
    if (tells.includes(false)) return whole;
    const [asked, answered] = await Promise.all(
      [prompt, answer].map(async (text) => average(await this.#guess(text, "windows", context))),
    );
    const found = (guesses: readonly LanguageGuess[] = []) =>
      guesses.filter(({ probability }) => probability > threshold).map(({ language }) => language);
    const wanted = new Set(found(asked));
    const same = found(answered).some((language) => wanted.has(language));
    return { ...whole, isLongEnough: true, other: same ? undefined : answered?.[0] };
  }

  /** Returns the languages of each part of a text, the likeliest language first. */
  async #guess(text: string, strategy: LongTextStrategy, context: CallContext) {
    const { heads } = await this.#model.describe(context);
    // guard's own models may have several heads, and others have one.
    const head = Math.max(
      0,
      heads.findIndex(({ name }) => name === "language"),
    );
    const labels = heads[head]?.labels ?? [];
    const { parts } = await this.#model.classify(text, { strategy, maxWindows: ALL_WINDOWS }, context);
    return parts.map(({ start, end, heads: scores }) => ({
      start,
      end,
      guesses: byProbability(labels.map((label, index) => [codeOf(label), scores[head]?.[index] ?? 0])),
    }));
  }
}

/** Returns the ISO 639-1 code of a label, such as `zh` for `zh-CN`. */
function codeOf(label: string): string {
  return canonicalLanguage(label.toLowerCase().split(/[-_]/)[0] as string);
}

/** Averages the languages of the parts of a text, weighted by length. */
function average(parts: readonly (Span & { guesses: readonly LanguageGuess[] })[]): LanguageGuess[] {
  const total = parts.reduce((sum, { start, end }) => sum + end - start, 0);
  return byProbability(
    parts.flatMap(({ start, end, guesses }) =>
      guesses.map(({ language, probability }) => [language, (probability * (end - start)) / total] as const),
    ),
  );
}

/** Adds up the probabilities of equal languages, and sorts them. */
function byProbability(all: readonly (readonly [string, number])[]): LanguageGuess[] {
  const sums = new Map<string, number>();
  for (const [language, probability] of all) sums.set(language, (sums.get(language) ?? 0) + probability);
  return [...sums]
    .map(([language, probability]) => ({ language, probability }))
    .sort((a, b) => b.probability - a.probability);
}
