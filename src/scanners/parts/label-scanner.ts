import { LabelHead, type LabelQuery } from "../../models/label-head.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import { passed, type ScanContext } from "../../scan/scanner.ts";
import { withPathPrefix } from "../../support/errors.ts";
import type { Span } from "../../text/span.ts";
import type { Build, ScannerBody } from "../definition.ts";
import { correctedLabels, type LabelledPart, labelVerdict, probabilityOf } from "./label-verdict.ts";
import { engineOptions, MULTITASK, matchTypeOption, modelOption } from "./model-options.ts";
import { type ScoredPart, type ScoredText, scoreViews } from "./scored-text.ts";
import { streamingOf } from "./sentence-streaming.ts";
import { resolveReview, resolveThreshold, reviewOptions, type Threshold, thresholdOption } from "./threshold.ts";
import {
  languageScorer,
  onUntrainedLanguageOption,
  type UntrainedTreatment,
  withUntrained,
} from "./untrained-languages.ts";

/**
 * Creates the options of scanners that decide by the labels of a classifier.
 *
 * @param threshold the default of the option `threshold`.
 * @param what a noun for the documentation: the probability of what is compared with the threshold.
 * @param model the default of the option `model`.
 */
export function labelScannerOptions(threshold: number, what: string, model = MULTITASK) {
  return {
    model: modelOption(model),
    threshold: thresholdOption(threshold, `A text fails when the probability of ${what} is above this.`),
    ...reviewOptions,
    matchType: matchTypeOption,
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...engineOptions(),
  };
}

type LabelScannerOptions = {
  model: string;
  threshold: Threshold;
  matchType: LongTextStrategy;
  onUntrainedLanguage: UntrainedTreatment;
  deobfuscate?: boolean;
  modelMaxLength?: number | undefined;
};

/** The text that the model reads. It may begin with context, which is not scored. */
interface ModelInput {
  text: string;
  /** The offset of the scanned text in it, in UTF-16 code units. */
  from: number;
}

/** The settings in which these scanners differ. */
interface LabelScannerSettings {
  /** The labels that make a text fail. */
  labels: LabelQuery;
  /** The type of the findings. */
  finding: string;
  /** If given, the verdict also has a finding of this type for each label of the head, with the highest probability of the label. */
  scores?: string;
  /** Returns what the model reads for a text. The default is the text itself. */
  inputOf?(text: string, context: ScanContext): ModelInput;
}

/**
 * Creates a scanner that decides by labels of a classifier. The part of a text with the highest probability decides. If each label has a
 * probability of its own, the probability of a part is that of its likeliest label. Otherwise it is the sum over the labels.
 *
 * @throws GuardValidationError for a model that does not exist, and for a false positive rate that its curve does not reach.
 */
export function labelScanner(
  { options, engine, type, schema }: Build<LabelScannerOptions>,
  { labels, finding, scores, inputOf = (text) => ({ text, from: 0 }) }: LabelScannerSettings,
): ScannerBody {
  const { model: name, modelMaxLength: maxLength, matchType, deobfuscate = false } = options;
  const { onUntrainedLanguage: treatment } = options;
  const model = withPathPrefix("model", () => engine.model(name, { maxLength }));
  const head = new LabelHead(model, labels);
  const threshold = resolveThreshold({ type, schema, options }, model.folder);
  const languages = languageScorer({ type, engine, model, head: labels.head, treatment });
  const streaming = streamingOf(matchType);
  return {
    ...resolveReview({ type, schema, options }, model.folder, threshold),
    ...(streaming ? { streaming } : {}),
    load: async (signal) => {
      // The first call loads the language detector in parallel if the model is on this machine, the second one after a download.
      await Promise.all([head.load(signal), languages.load()]);
      await languages.load();
    },
    close: () => model.close(),
    async check(text, context) {
      const { multiLabel, head: index, heads } = await head.describe(context);
      // A blank text passes, whatever context the model would read with it.
      if (text.trim() === "") return passed(text);
      const input = inputOf(text, context);
      const probabilities: (readonly number[])[] = [];
      const scoreParts = async (part: string) => {
        const { parts, skipped } = await head.score(part, matchType, context);
        for (const part of scores === undefined ? [] : parts) probabilities.push(part.heads[index] ?? []);
        return {
          skipped,
          parts: parts.map((part): LabelledPart => ({ ...part, score: probabilityOf(part.labels, multiLabel) })),
        };
      };
      const scoreView = (view: string) => languages.score(view, scoreParts, correctedLabels, context);
      const ofInput = await scoreViews<LabelledPart>(input.text, { matchType, deobfuscate }, scoreView, context);
      const scored = partsFrom(ofInput, input.from);
      const ofLabels = labelVerdict(text, scored, { threshold, multiLabel, type: finding });
      const verdict = withUntrained(text, ofLabels, scored.untrained, treatment);
      if (scores === undefined) return verdict;
      const labelFindings = (heads[index]?.labels ?? []).map((label, at) => {
        const score = probabilities.reduce((highest, ofPart) => Math.max(highest, ofPart[at] ?? 0), 0);
        return { start: 0, end: text.length, type: scores, score, label };
      });
      return { ...verdict, findings: [...verdict.findings, ...labelFindings.sort((a, b) => b.score - a.score)] };
    },
  };
}

/** Moves scored parts so that their offsets count from `from`. Parts before it are left out. */
function partsFrom<Part extends ScoredPart>(scored: ScoredText<Part>, from: number): ScoredText<Part> {
  if (from === 0) return scored;
  const moved = <Moved extends Span>(parts: readonly Moved[]) =>
    parts
      .filter(({ end }) => end > from)
      .map((part) => ({ ...part, start: Math.max(0, part.start - from), end: part.end - from }));
  const { parts, others, untrained } = scored;
  return { ...scored, parts: moved(parts), others: moved(others), untrained: moved(untrained) };
}

/**
 * Returns the labels that a scanner with an option `labels` uses.
 *
 * @param head the head of guard's own models that has these labels.
 * @param given the labels that the user names. The model must have all of them.
 * @param usual the labels that count if the user names none. Only those that the model has are used.
 */
export function labelsOf(head: string, given: readonly string[] | undefined, usual: readonly string[]): LabelQuery {
  return { head, option: "labels", labels: given ?? usual, all: given !== undefined };
}
