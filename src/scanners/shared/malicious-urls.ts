import { z } from "zod";
import { GuardValidationError, madeFrom } from "../../errors.ts";
import { LinearClassifier } from "../../models/linear.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { riskScore } from "../../score.ts";
import { resolveThreshold, thresholdOption } from "../../threshold.ts";
import { findUrls } from "../../urls.ts";
import { linearOptions } from "./model-options.ts";

const BENIGN = "benign";

const schema = z.strictObject({
  ...commonOptions,
  threshold: thresholdOption(0.5, "A text fails when the probability that one of its URLs is malicious is above this."),
  model: z
    .string()
    .min(1)
    .default("embedded:malicious-urls")
    .describe(
      "embedded:<name>, or a folder with the config.json and model.bin of a linear model with the label benign.",
    ),
  ...linearOptions,
});

/**
 * Blocks texts with URLs that look like phishing, malware or defaced sites. They are judged by how they are written, and never
 * fetched; disguised ones (`hxxp`, `[.]`) are judged as what they stand for.
 */
export class MaliciousURLs extends BaseScanner<typeof schema> {
  static readonly type = "MaliciousURLs";
  static readonly options = schema;
  readonly sanitizes = false;
  readonly #model: LinearClassifier;
  readonly #threshold: number;
  readonly #labels: string[];

  constructor(options: z.input<typeof schema> = {}) {
    super(MaliciousURLs.type, schema, options);
    this.#model = madeFrom("model", () => new LinearClassifier(this.options.model));
    this.#threshold = resolveThreshold(MaliciousURLs.type, this.options, this.#model.folder);
    this.#labels = this.#model.described().labels;
    if (!this.#labels.includes(BENIGN)) {
      const message = `the model has no label ${BENIGN}; its labels are: ${this.#labels.join(", ")}`;
      throw new GuardValidationError([{ path: "model", message }]);
    }
  }

  async load(): Promise<void> {
    await this.#model.load();
  }

  async close(): Promise<void> {
    await this.#model.close();
  }

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    const urls = await findUrls(text);
    if (urls.length === 0) return passed(text);
    const threshold = this.#threshold;
    const probabilities = await this.#model.classify(urls.map(({ url }) => url));
    const judged = urls.map((url, index) => ({ ...url, ...this.#judge(probabilities[index] as number[]) }));
    const findings = judged
      .filter(({ score }) => score > threshold)
      .map(({ start, end, text: written, score, label }): Finding => {
        return { start, end, type: "url", text: written, score, label };
      });
    const worst = judged.reduce((most, { score }) => Math.max(most, score), 0);
    return {
      isValid: findings.length === 0,
      score: riskScore(worst, threshold),
      probability: worst,
      findings,
      coverage: wholeText(text),
    };
  }

  /** How surely a URL is not benign, and what it most likely is then. */
  #judge(probabilities: readonly number[]): { score: number; label: string } {
    let [score, best, label] = [0, -1, ""];
    for (const [index, probability] of probabilities.entries()) {
      const name = this.#labels[index] as string;
      if (name === BENIGN) continue;
      score += probability;
      if (probability > best) [best, label] = [probability, name];
    }
    return { score: Math.min(1, score), label };
  }
}
