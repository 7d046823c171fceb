import { z } from "zod";
import { madeFrom } from "../../errors.ts";
import { knownAs, LanguageDetector, type LanguageGuess } from "../../models/languages.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { PASSED, riskScore } from "../../score.ts";
import { resolveThreshold, thresholdOption } from "../../threshold.ts";
import { linearOptions } from "./model-options.ts";

/** The options of Language and LanguageSame that say which model. */
export const languageModelOptions = {
  model: z
    .string()
    .min(1)
    .default("embedded:language")
    .describe("embedded:<name>, or a folder with the config.json and model.bin of a linear model of languages."),
  ...linearOptions,
};

/** The options of Language. */
export function languageOptions(threshold: number) {
  return {
    ...commonOptions,
    validLanguages: z
      .array(z.string().regex(/^[a-z]{2,3}$/, "expected an ISO 639-1 code such as en"))
      .min(1)
      .describe("Languages that pass, by their ISO 639-1 codes."),
    threshold: thresholdOption(
      threshold,
      "A language counts as found when its probability is above this; a text in which none is found passes.",
    ),
    matchType: z
      .enum(["full", "sentence"])
      .default("full")
      .describe("full: the text as a whole. sentence: each sentence; the worst decides."),
    ...languageModelOptions,
  };
}

type LanguageSchema = z.ZodObject<ReturnType<typeof languageOptions>>;

/** A part of a text, and the languages that it may be in, the likeliest first. */
interface LanguagePart {
  start: number;
  end: number;
  guesses: readonly LanguageGuess[];
}

/** The detector of a `model` option. */
export function detectorOf(model: string): LanguageDetector {
  return madeFrom("model", () => new LanguageDetector(model));
}

/** Both sides of Language: they differ in the default threshold, as in llm-guard 0.3.16. */
export abstract class LanguageBase<Schema extends LanguageSchema> extends BaseScanner<Schema> {
  readonly sanitizes = false;
  readonly #detector: LanguageDetector;
  readonly #threshold: number;
  readonly #valid: ReadonlySet<string>;

  protected constructor(type: string, schema: Schema, options: z.input<Schema>) {
    super(type, schema, options);
    const { model, validLanguages } = this.options as z.output<LanguageSchema>;
    this.#detector = detectorOf(model);
    this.#threshold = resolveThreshold(type, this.options as z.output<LanguageSchema>, this.#detector.folder);
    this.#valid = new Set(validLanguages.map(knownAs));
  }

  load(): Promise<void> {
    return this.#detector.load();
  }

  close(): Promise<void> {
    return this.#detector.close();
  }

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    if (text.trim() === "") return passed(text);
    const { matchType } = this.options as z.output<LanguageSchema>;
    const { whole, sentences } = await this.#detector.detect(text);
    const all = { start: 0, end: text.length, guesses: whole };
    const judged = matchType === "sentence" ? sentences : [all];
    const coverage = wholeText(text, judged.length);
    if (judged.every(({ guesses }) => guesses.length === 0)) return passed(text, coverage);
    const probability = judged.reduce(
      (most, { guesses }) => Math.max(most, this.#foreign(guesses)?.probability ?? 0),
      0,
    );
    const isValid = probability <= this.#threshold;
    return {
      isValid,
      score: isValid ? PASSED : riskScore(probability, this.#threshold),
      probability,
      findings: isValid ? [] : this.#findings(text, all, sentences),
      coverage,
    };
  }

  /** Of a text that fails as a whole, the sentences that are to blame, if any is by itself. */
  #findings(text: string, all: LanguagePart, sentences: readonly LanguagePart[]): Finding[] {
    const toBlame = sentences.filter(({ guesses }) => (this.#foreign(guesses)?.probability ?? 0) > this.#threshold);
    return (toBlame.length > 0 ? toBlame : [all]).map(({ start, end, guesses }) => {
      const { language, probability } = this.#foreign(guesses) as LanguageGuess;
      return { start, end, type: "language", text: text.slice(start, end), score: probability, label: language };
    });
  }

  /** The likeliest language that may not pass. */
  #foreign(guesses: readonly LanguageGuess[]): LanguageGuess | undefined {
    return guesses.find(({ language }) => !this.#valid.has(language));
  }
}
