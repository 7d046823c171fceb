import type { AnswerCache } from "../../models/call-context.ts";
import { knownAs, type LanguageGuess } from "../../models/languages.ts";
import type { LinearClassifier } from "../../models/linear.ts";
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

/** What a text, or a part of it, says about the languages that are expected of it. */
export interface ToldLanguage extends Span {
  /** The likeliest language that was not expected. It is absent where the text has none, or is too short to tell. */
  other?: LanguageGuess | undefined;
  /** Whether there is enough text to tell a language. */
  judged: boolean;
}

/** What the detector needs of the call that asks it. */
interface Asking {
  signal?: AbortSignal | undefined;
  answers?: AnswerCache | undefined;
}

/** Tells whether texts are in other languages than the expected ones. */
export interface LanguageTeller {
  /** The folder of the model, if it has one on this machine. */
  readonly folder: string | undefined;
  load(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Compares a text as a whole, and each of its sentences, with languages by their ISO 639-1 codes. */
  others(
    text: string,
    expected: readonly string[],
    asking: Asking,
  ): Promise<{ whole: ToldLanguage; sentences: ToldLanguage[] }>;
  /** Compares an answer with its prompt. A language is in a text where its probability is above `threshold`. */
  differs(prompt: string, answer: string, threshold: number, asking: Asking): Promise<ToldLanguage>;
}

/** Returns what the option `model` of a scanner names: a linear model, or a classifier of the engine. */
export function languageTeller({
  options,
  engine,
}: Build<{ model: string; modelMaxLength?: number | undefined }>): LanguageTeller {
  const { model, modelMaxLength: maxLength } = options;
  return withPathPrefix("model", () =>
    engine.isLinear(model)
      ? new LinearTeller(engine.linear(model), engine.linear("embedded:code"))
      : new NeuralTeller(engine.model(model, { maxLength })),
  );
}

/** Tells languages by a linear model. A second one finds code, which is in no language. */
class LinearTeller implements LanguageTeller {
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

  async others(text: string, expected: readonly string[], { signal }: Asking) {
    const [model, code] = await Promise.all([this.#model.load(), this.#code.load()]);
    const told = await native(() => model.otherLanguages(text, [...expected], code), { signal });
    const sentences = mapRows(told.sentences, 5, (column): ToldLanguage => {
      const language = told.languages[column(3)];
      const other = language === undefined ? undefined : { language, probability: column(4) };
      return { start: column(0), end: column(1), judged: column(2) > 0, other };
    });
    return { whole: { start: 0, end: text.length, other: told.whole, judged: told.judged }, sentences };
  }

  async differs(prompt: string, answer: string, threshold: number, { signal }: Asking): Promise<ToldLanguage> {
    const [model, code] = await Promise.all([this.#model.load(), this.#code.load()]);
    const { whole, judged } = await native(() => model.differs(prompt, answer, threshold, code), { signal });
    return { start: 0, end: answer.length, other: whole, judged };
  }
}

/** Tells languages by a classifier of the engine. Texts with too few words are not judged, whatever it says of them. */
class NeuralTeller implements LanguageTeller {
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

  async others(text: string, expected: readonly string[], asking: Asking) {
    const told = async ({ start, end, guesses }: Span & { guesses: readonly LanguageGuess[] }) => {
      const judged = await native(() => addon.tellsLanguage(text.slice(start, end)), asking);
      const other = judged ? guesses.find(({ language }) => !expected.includes(language)) : undefined;
      return { start, end, other, judged };
    };
    const parts = await this.#guess(text, "windows", asking);
    const whole = await told({ start: 0, end: text.length, guesses: average(parts) });
    const sentences = await this.#guess(text, "sentence", asking);
    return { whole, sentences: await Promise.all(sentences.map(told)) };
  }

  async differs(prompt: string, answer: string, threshold: number, asking: Asking): Promise<ToldLanguage> {
    const whole = { start: 0, end: answer.length, judged: false };
    const tells = await Promise.all([prompt, answer].map((text) => native(() => addon.tellsLanguage(text), asking)));
    if (tells.includes(false)) return whole;
    const [asked, answered] = await Promise.all(
      [prompt, answer].map(async (text) => average(await this.#guess(text, "windows", asking))),
    );
    const found = (guesses: readonly LanguageGuess[] = []) =>
      guesses.filter(({ probability }) => probability > threshold).map(({ language }) => language);
    const wanted = new Set(found(asked));
    const same = found(answered).some((language) => wanted.has(language));
    return { ...whole, judged: true, other: same ? undefined : answered?.[0] };
  }

  /** Returns the languages of each part of a text, the likeliest first. */
  async #guess(text: string, reading: LongTextStrategy, { signal, answers }: Asking) {
    const { heads } = await this.#model.described({ signal });
    // guard's own models may have several heads, and others have one.
    const head = Math.max(
      0,
      heads.findIndex(({ name }) => name === "language"),
    );
    const labels = heads[head]?.labels ?? [];
    const { parts } = await this.#model.classify(
      text,
      { strategy: reading, maxWindows: ALL_WINDOWS },
      { signal, answers },
    );
    return parts.map(({ start, end, heads: scores }) => ({
      start,
      end,
      guesses: byProbability(labels.map((label, index) => [codeOf(label), scores[head]?.[index] ?? 0])),
    }));
  }
}

/** Returns the ISO 639-1 code of a label, such as `zh` for `zh-CN`. */
function codeOf(label: string): string {
  return knownAs(label.toLowerCase().split(/[-_]/)[0] as string);
}

/** Averages the languages of the parts of a text. Each part counts by its length. */
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
