import { z } from "zod";
import { madeFrom } from "../../errors.ts";
import { type Comparison, comparisonOf, highestCosine } from "../../models/comparing.ts";
import { MeaningHead } from "../../models/meaning.ts";
import { Classifier } from "../../models/model.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict } from "../../scanner.ts";
import { riskScore } from "../../score.ts";
import { resolveMinimum, thresholdOption } from "../../threshold.ts";
import { coverageOf } from "../shared/disguises.ts";
import { engineOptions, matchTypeOption, modelOption } from "../shared/model-options.ts";

const schema = z.strictObject({
  ...commonOptions,
  model: modelOption,
  threshold: thresholdOption(0.5, "An output fails when the probability that it answers the prompt is below this."),
  matchType: matchTypeOption.describe(
    "windows: all of prompt and output, in overlapping pieces where they are longer than the model reads at once; the two nearest to " +
      "each other count. full: their beginnings. sentence, chunks, truncate_token_head_tail, truncate_head_tail: other pieces.",
  ),
  ...engineOptions(),
});

/**
 * Fails outputs that do not answer their prompt, by vectors of what the two mean.
 *
 * Of long texts the two windows count that are nearest to each other: the question often is a small part of a prompt, and the
 * answer a part of an output. The `probability` of a verdict is that of an output beside the point, 1 less than what the
 * threshold is compared with. llm-guard compares the cosine itself, of the first 512 tokens; so does this with a model whose
 * `config.json` does not say what its cosines mean.
 */
export class Relevance extends BaseScanner<typeof schema> {
  static readonly type = "Relevance";
  static readonly options = schema;
  static readonly minimum = "threshold";
  readonly sanitizes = false;
  readonly #model: Classifier;
  readonly #meaning: MeaningHead;
  /** Absent until a model of the hub is downloaded. */
  #relevance: Comparison | undefined;
  /** The probability of being beside the point above which an output fails. */
  readonly #limit: number;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    super(Relevance.type, schema, options);
    this.#model = madeFrom("model", () => new Classifier(this.options.model, this.options.modelMaxLength));
    this.#meaning = new MeaningHead(this.#model);
    if (this.#model.folder !== undefined) this.#relevance = comparisonOf(this.#model.folder, "relevance");
    this.#limit = resolveMinimum(Relevance.type, this.options, "threshold", this.#model.folder);
  }

  async load(signal?: AbortSignal): Promise<void> {
    await this.#meaning.load(signal);
  }

  async close(): Promise<void> {
    await this.#model.close();
  }

  protected async check(text: string, { prompt = "", signal, passes }: ScanContext): Promise<Verdict> {
    if (prompt.trim() === "" || text.trim() === "") return passed(text);
    const read = (whole: string) => this.#meaning.vectors(whole, this.options.matchType, signal, passes);
    const [asked, answered] = await Promise.all([read(prompt), read(text)]);
    const others = answered.parts.map((part) => ({ ...part, score: 0 }));
    const coverage = coverageOf(text, { parts: others, others: [], skipped: answered.skipped });
    if (asked.parts.length === 0 || answered.parts.length === 0) return passed(text, coverage);
    this.#relevance ??= comparisonOf(this.#model.folder, "relevance");
    const [asks, answers] = [asked, answered].map(({ parts }) => parts.map(({ vector }) => vector));
    const nearest = await highestCosine(asks ?? [], answers ?? [], signal);
    const probability = 1 - this.#relevance(nearest);
    const isValid = probability <= this.#limit;
    const finding = { start: 0, end: text.length, type: "irrelevance", text, score: probability };
    return {
      isValid,
      score: riskScore(probability, this.#limit),
      probability,
      findings: isValid ? [] : [finding],
      coverage,
    };
  }
}
