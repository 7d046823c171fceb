import { z } from "zod";
import type { LanguageDetector, LanguageGuess } from "../../models/languages.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { FAILED } from "../../score.ts";
import { detectorOf, languageModelOptions } from "../shared/language.ts";

const schema = z.strictObject({
  ...commonOptions,
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe("A language counts as found in a text when its probability is above this."),
  ...languageModelOptions,
});

/**
 * Blocks outputs that share no language with their prompt. Where one of the two has no letters (a number, code points of emoji,
 * a link), there is nothing to compare, and the output passes.
 */
export class LanguageSame extends BaseScanner<typeof schema> {
  static readonly type = "LanguageSame";
  static readonly options = schema;
  readonly sanitizes = false;
  readonly #detector: LanguageDetector;

  constructor(options: z.input<typeof schema> = {}) {
    super(LanguageSame.type, schema, options);
    this.#detector = detectorOf(this.options.model);
  }

  load(): Promise<void> {
    return this.#detector.load();
  }

  close(): Promise<void> {
    return this.#detector.close();
  }

  protected async check(text: string, { prompt = "" }: ScanContext): Promise<Verdict> {
    const [asked, answered] = await Promise.all([this.#detector.detect(prompt), this.#detector.detect(text)]);
    const best = answered.whole[0];
    if (!best || asked.whole.length === 0) return passed(text);
    const wanted = new Set(this.#found(asked.whole));
    if (this.#found(answered.whole).some((language) => wanted.has(language))) return passed(text);
    const finding = {
      start: 0,
      end: text.length,
      type: "language",
      text,
      score: best.probability,
      label: best.language,
    };
    return { isValid: false, score: FAILED, findings: [finding], coverage: wholeText(text) };
  }

  #found(guesses: readonly LanguageGuess[]): string[] {
    return guesses.filter(({ probability }) => probability > this.options.threshold).map(({ language }) => language);
  }
}
