import { z } from "zod";
import { GuardValidationError, madeFrom } from "../../errors.ts";
import { LinearClassifier } from "../../models/linear.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { riskScore } from "../../score.ts";
import { splitSentences } from "../../sentences.ts";
import { resolveThreshold, thresholdOption } from "../../threshold.ts";
import { linearOptions } from "./model-options.ts";

/** The labels that mean gibberish: those of llm-guard's model. */
const GIBBERISH = ["word salad", "noise", "mild gibberish"];

/** Texts of emoji, digits and white space: no language, and so no bad one (emoji properties of UTS #51). */
const NO_LANGUAGE = /^[\p{Extended_Pictographic}\p{Emoji_Component}\s]*$/u;

/** The options of Gibberish. */
export function gibberishOptions(threshold: number) {
  return {
    ...commonOptions,
    model: z
      .string()
      .min(1)
      .default("embedded:gibberish")
      .describe("embedded:<name>, or a folder with the config.json and model.bin of a linear model."),
    threshold: thresholdOption(threshold, "A text fails when the probability of gibberish is above this."),
    matchType: z
      .enum(["full", "sentence"])
      .default("full")
      .describe("full: the text as a whole. sentence: each sentence; the worst decides."),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .default(GIBBERISH)
      .describe("Labels of the model that mean gibberish; their probabilities are added up."),
    ...linearOptions,
  };
}

type GibberishSchema = z.ZodObject<ReturnType<typeof gibberishOptions>>;

/** Both sides of Gibberish: they differ in the default threshold, as in llm-guard 0.3.16. */
export abstract class GibberishBase<Schema extends GibberishSchema> extends BaseScanner<Schema> {
  readonly sanitizes = false;
  readonly #model: LinearClassifier;
  readonly #threshold: number;
  readonly #labels: string[];
  /** Places of the labels that mean gibberish. */
  readonly #bad: number[];

  protected constructor(type: string, schema: Schema, options: z.input<Schema>) {
    super(type, schema, options);
    const { model, labels } = this.options as z.output<GibberishSchema>;
    this.#model = madeFrom("model", () => new LinearClassifier(model));
    this.#threshold = resolveThreshold(type, this.options as z.output<GibberishSchema>, this.#model.folder);
    this.#labels = this.#model.described().labels;
    const places = labels.map((label, index) => {
      const place = this.#labels.indexOf(label);
      if (place >= 0) return place;
      const message = `the model has no label ${label}; its labels are: ${this.#labels.join(", ")}`;
      throw new GuardValidationError([{ path: `labels.${index}`, message }]);
    });
    this.#bad = [...new Set(places)];
  }

  async load(): Promise<void> {
    await this.#model.load();
  }

  async close(): Promise<void> {
    await this.#model.close();
  }

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    if (NO_LANGUAGE.test(text)) return passed(text);
    const { matchType } = this.options as z.output<GibberishSchema>;
    const threshold = this.#threshold;
    const parts = matchType === "sentence" ? splitSentences(text) : [{ start: 0, end: text.length, text }];
    const probabilities = await this.#model.classify(parts.map((part) => part.text));
    const scored = parts.map((part, index) => ({ part, ...this.#judge(probabilities[index] as number[]) }));
    const worst = scored.reduce((most, { score }) => Math.max(most, score), 0);
    const findings = scored
      .filter(({ score }) => score > threshold)
      .map(
        ({ part, score, label }): Finding => ({
          start: part.start,
          end: part.end,
          type: "gibberish",
          text: part.text,
          score,
          label,
        }),
      );
    return {
      isValid: findings.length === 0,
      score: riskScore(worst, threshold),
      probability: worst,
      findings,
      coverage: wholeText(text, parts.length),
    };
  }

  #judge(probabilities: readonly number[]): { score: number; label: string } {
    const at = (place: number) => probabilities[place] as number;
    const top = this.#bad.reduce((best, place) => (at(place) > at(best) ? place : best));
    const score = Math.min(
      1,
      this.#bad.reduce((sum, place) => sum + at(place), 0),
    );
    return { score, label: this.#labels[top] as string };
  }
}
