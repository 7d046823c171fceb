import { z } from "zod";
import { GuardValidationError } from "../../errors.ts";
import { knownAs, LanguageDetector, type LanguageGuess } from "../../models/languages.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { riskScore } from "../../score.ts";

/** The options of Language and LanguageSame that say which model. */
export const languageModelOptions = {
  model: z
    .string()
    .min(1)
    .default("embedded:language")
    .describe("embedded:<name>, or a folder with the config.json and model.bin of a linear model of languages."),
  useOnnx: z.boolean().optional().describe("Of llm-guard; the model is linear and needs no ONNX Runtime."),
};

/** The options of Language. */
export function languageOptions(threshold: number) {
  return {
    ...commonOptions,
    validLanguages: z
      .array(z.string().regex(/^[a-z]{2,3}$/, "expected an ISO 639-1 code such as en"))
      .min(1)
      .describe("Languages that pass, by their ISO 639-1 codes."),
    threshold: z
      .number()
      .min(0)
      .max(1)
      .default(threshold)
      .describe("A language counts as found when its probability is above this; a text in which none is found passes."),
    matchType: z
      .enum(["full", "sentence"])
      .default("full")
      .describe("full: the text as a whole. sentence: each sentence; the worst decides."),
    ...languageModelOptions,
  };
}

type LanguageSchema = z.ZodObject<ReturnType<typeof languageOptions>>;

/** The detector of a `model` option. */
export function detectorOf(model: string): LanguageDetector {
  try {
    return new LanguageDetector(model);
  } catch (error) {
    throw error instanceof GuardValidationError ? error.within("model") : error;
  }
}

/** Both sides of Language: they differ in the default threshold, as in llm-guard 0.3.16. */
export abstract class LanguageBase<Schema extends LanguageSchema> extends BaseScanner<Schema> {
  readonly sanitizes = false;
  readonly #detector: LanguageDetector;
  readonly #valid: ReadonlySet<string>;

  protected constructor(type: string, schema: Schema, options: z.input<Schema>) {
    super(type, schema, options);
    const { model, validLanguages } = this.options as z.output<LanguageSchema>;
    this.#detector = detectorOf(model);
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
    const { threshold, matchType } = this.options as z.output<LanguageSchema>;
    const { whole, sentences } = await this.#detector.detect(text);
    const all = { start: 0, end: text.length, guesses: whole };
    const judged = matchType === "sentence" ? sentences : [all];
    const failing = judged.flatMap((part) => this.#foreign(part.guesses) ?? []);
    if (failing.length === 0) return passed(text, wholeText(text, judged.length));
    // Of a text that fails as a whole, the sentences that are to blame are shown, if any is by itself.
    const toBlame = sentences.filter(({ guesses }) => this.#foreign(guesses));
    const findings = (toBlame.length > 0 ? toBlame : [all]).map(({ start, end, guesses }): Finding => {
      const { language, probability } = this.#foreign(guesses) as LanguageGuess;
      return { start, end, type: "language", text: text.slice(start, end), score: probability, label: language };
    });
    return {
      isValid: false,
      score: riskScore(Math.max(...failing.map(({ probability }) => probability)), threshold),
      findings,
      coverage: wholeText(text, judged.length),
    };
  }

  /** The likeliest language above the threshold that may not pass. */
  #foreign(guesses: readonly LanguageGuess[]): LanguageGuess | undefined {
    const { threshold } = this.options as z.output<LanguageSchema>;
    return guesses.find(({ language, probability }) => probability > threshold && !this.#valid.has(language));
  }
}
