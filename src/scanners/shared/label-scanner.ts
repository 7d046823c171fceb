import type { z } from "zod";
import { madeFrom } from "../../errors.ts";
import { LabelHead, type WantedLabels } from "../../models/label-head.ts";
import { Classifier, type Reading } from "../../models/model.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict } from "../../scanner.ts";
import { resolveThreshold, type Threshold, thresholdOption } from "../../threshold.ts";
import { type ScoredPart, type ScoredText, scoreDisguised } from "./disguises.ts";
import { type LabelledPart, labelVerdict, probabilityOf } from "./label-verdict.ts";
import { engineOptions, matchTypeOption, modelOption } from "./model-options.ts";

/**
 * The options of scanners that go by the labels of a classifier.
 *
 * @param threshold its default.
 * @param what whose probability is compared with it, for the documentation.
 */
export function labelScannerOptions(threshold: number, what: string) {
  return {
    ...commonOptions,
    model: modelOption,
    threshold: thresholdOption(threshold, `A text fails when the probability of ${what} is above this.`),
    matchType: matchTypeOption,
    ...engineOptions(),
  };
}

type LabelScannerOptions = {
  model: string;
  threshold: Threshold;
  matchType: Reading;
  deobfuscate?: boolean;
  modelMaxLength?: number;
} & Record<string, unknown>;

/** A text to judge, which may begin with some that is there to be understood by only. */
interface JudgedText {
  text: string;
  /** Where what is judged begins, in UTF-16 code units. */
  from: number;
}

/**
 * What scanners share that go by labels of a classifier. The part of a text decides in which its probability is highest: of
 * labels that stand for themselves that of the likeliest one, otherwise the sum of all.
 */
export abstract class LabelScanner<Schema extends z.ZodObject> extends BaseScanner<Schema> {
  readonly sanitizes = false;
  readonly #model: Classifier;
  readonly #head: LabelHead;
  readonly #threshold: number;
  readonly #finding: string;

  /**
   * @param wanted the labels that a text fails by.
   * @param finding the type of findings.
   */
  protected constructor(
    type: string,
    schema: Schema,
    options: z.input<Schema>,
    wanted: (options: z.output<Schema>) => WantedLabels,
    finding: string,
  ) {
    super(type, schema, options);
    const checked = this.options as LabelScannerOptions;
    this.#model = madeFrom("model", () => new Classifier(checked.model, checked.modelMaxLength));
    this.#head = new LabelHead(this.#model, wanted(this.options));
    this.#threshold = resolveThreshold(type, checked, this.#model.folder);
    this.#finding = finding;
  }

  /** Loads the model and checks that it has the labels. */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#head.load(signal);
  }

  async close(): Promise<void> {
    await this.#model.close();
  }

  /** What the model is to read for a text. */
  protected judged(text: string, _context: ScanContext): JudgedText {
    return { text, from: 0 };
  }

  protected async check(text: string, context: ScanContext): Promise<Verdict> {
    const { deobfuscate = false, matchType } = this.options as LabelScannerOptions;
    const { multiLabel } = await this.#head.described(context.signal);
    // Whatever it is read with, a blank text says nothing.
    if (text.trim() === "") return passed(text);
    const { text: read, from } = this.judged(text, context);
    const scored = await scoreDisguised<LabelledPart>(read, { matchType, deobfuscate }, async (reading) => {
      const { parts, skipped } = await this.#head.score(reading, matchType, context.signal, context.passes);
      return { skipped, parts: parts.map((part) => ({ ...part, score: probabilityOf(part.labels, multiLabel) })) };
    });
    return labelVerdict(text, since(scored, from), { threshold: this.#threshold, multiLabel, type: this.#finding });
  }
}

/** What was scored of a text, seen from the place where what is judged begins: parts before it do not count. */
function since<Part extends ScoredPart>(scored: ScoredText<Part>, from: number): ScoredText<Part> {
  if (from === 0) return scored;
  const moved = (parts: readonly Part[]) =>
    parts
      .filter(({ end }) => end > from)
      .map((part) => ({ ...part, start: Math.max(0, part.start - from), end: part.end - from }));
  return { ...scored, parts: moved(scored.parts), others: moved(scored.others) };
}
