import { madeFrom } from "../../errors.ts";
import { LabelHead, type WantedLabels } from "../../models/label-head.ts";
import type { Reading } from "../../models/reading.ts";
import { passed, type ScanContext } from "../../scanner.ts";
import type { Build, ScannerBody } from "../define.ts";
import { type ScoredPart, type ScoredText, scoreDisguised } from "./disguises.ts";
import { type LabelledPart, labelVerdict, probabilityOf } from "./label-verdict.ts";
import { engineOptions, matchTypeOption, modelOption } from "./model-options.ts";
import { resolveThreshold, type Threshold, thresholdOption } from "./threshold.ts";

/**
 * The options of scanners that go by the labels of a classifier.
 *
 * @param threshold the default of the threshold.
 * @param what whose probability is compared with it, for the documentation.
 */
export function labelScannerOptions(threshold: number, what: string) {
  return {
    model: modelOption(),
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
  modelMaxLength?: number | undefined;
};

/** A text as the model is to read it: it may begin with context, which is not judged itself. */
interface JudgedText {
  text: string;
  /** Where the judged part begins, in UTF-16 code units. */
  from: number;
}

/** What one scanner that goes by labels has of its own. */
interface LabelScannerSettings {
  /** The labels that a text fails by. */
  labels: WantedLabels;
  /** The type of its findings. */
  finding: string;
  /** What the model is to read for a text. Default: the text itself. */
  judged?(text: string, context: ScanContext): JudgedText;
}

/**
 * A scanner that goes by labels of a classifier. The part of a text decides whose probability is the highest: for labels that stand
 * for themselves that of the likeliest one, otherwise the sum of all of them.
 *
 * @throws GuardValidationError for a model that is not there, or a rate of false positives that its curve does not have.
 */
export function labelScanner(
  { options, engine, type, schema }: Build<LabelScannerOptions>,
  { labels, finding, judged = (text) => ({ text, from: 0 }) }: LabelScannerSettings,
): ScannerBody {
  const { model: name, modelMaxLength: maxLength, matchType, deobfuscate = false } = options;
  const model = madeFrom("model", () => engine.model(name, { maxLength }));
  const head = new LabelHead(model, labels);
  const threshold = resolveThreshold({ type, schema, options }, model.folder);
  return {
    load: async (signal) => {
      await head.load(signal);
    },
    close: () => model.close(),
    async check(text, context) {
      const { multiLabel } = await head.described(context.signal);
      // A blank text says nothing, whatever context it would be read with.
      if (text.trim() === "") return passed(text);
      const { text: read, from } = judged(text, context);
      const { signal, answers } = context;
      const score = async (view: string) => {
        const { parts, skipped } = await head.score(view, matchType, signal, answers);
        return { skipped, parts: parts.map((part) => ({ ...part, score: probabilityOf(part.labels, multiLabel) })) };
      };
      const scored = await scoreDisguised<LabelledPart>(read, { matchType, deobfuscate }, score, answers);
      return labelVerdict(text, since(scored, from), { threshold, multiLabel, type: finding });
    },
  };
}

/** The scored parts of a text as seen from the offset where what is judged begins; parts before it are left out. */
function since<Part extends ScoredPart>(scored: ScoredText<Part>, from: number): ScoredText<Part> {
  if (from === 0) return scored;
  const moved = (parts: readonly Part[]) =>
    parts
      .filter(({ end }) => end > from)
      .map((part) => ({ ...part, start: Math.max(0, part.start - from), end: part.end - from }));
  return { ...scored, parts: moved(scored.parts), others: moved(scored.others) };
}

/**
 * The labels that a scanner with an option `labels` goes by.
 *
 * @param head the head of guard's own models that has them.
 * @param given the labels that the user names, all of which the model must have.
 * @param usual the labels that count where the user names none: those of them that the model has.
 */
export function labelsOf(head: string, given: readonly string[] | undefined, usual: readonly string[]): WantedLabels {
  return { head, option: "labels", labels: given ?? usual, all: given !== undefined };
}
