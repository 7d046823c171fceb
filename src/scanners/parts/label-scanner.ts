import { LabelHead, type WantedLabels } from "../../models/label-head.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import { passed, type ScanContext } from "../../scan/scanner.ts";
import { withPathPrefix } from "../../support/errors.ts";
import type { Span } from "../../text/span.ts";
import type { Build, ScannerBody } from "../definition.ts";
import { type ScoredPart, type ScoredText, scoreDisguised } from "./disguises.ts";
import {
  languageJudge,
  onUntrainedLanguageOption,
  type UntrainedTreatment,
  withUntrained,
} from "./foreign-languages.ts";
import { correctedLabels, type LabelledPart, labelVerdict, probabilityOf } from "./label-verdict.ts";
import { engineOptions, matchTypeOption, modelOption } from "./model-options.ts";
import { streamingOf } from "./sentence-streaming.ts";
import { resolveThreshold, type Threshold, thresholdOption } from "./threshold.ts";

/**
 * Makes the options of scanners that decide by the labels of a classifier.
 *
 * @param threshold the default of the threshold.
 * @param what the thing whose probability is compared with the threshold, for the documentation.
 */
export function labelScannerOptions(threshold: number, what: string) {
  return {
    model: modelOption(),
    threshold: thresholdOption(threshold, `A text fails when the probability of ${what} is above this.`),
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

/** The text that the model reads. It may begin with context, which is not judged itself. */
interface JudgedText {
  text: string;
  /** The offset where the judged part begins, in UTF-16 code units. */
  from: number;
}

/** The settings in which scanners that decide by labels differ. */
interface LabelScannerSettings {
  /** The labels that a text fails by. */
  labels: WantedLabels;
  /** The type of its findings. */
  finding: string;
  /** If this is given, the verdict also has a finding of this type for each label of the head, with its highest probability. */
  scores?: string;
  /** Returns what the model reads for a text. By default it reads the text itself. */
  judged?(text: string, context: ScanContext): JudgedText;
}

/**
 * Makes a scanner that decides by labels of a classifier. The part of a text with the highest probability decides. When each label
 * has a probability of its own, the probability of a part is that of its likeliest label; otherwise it is the sum over all labels.
 *
 * @throws GuardValidationError for a model that does not exist, and for a rate of false positives that its curve does not reach.
 */
export function labelScanner(
  { options, engine, type, schema }: Build<LabelScannerOptions>,
  { labels, finding, scores, judged = (text) => ({ text, from: 0 }) }: LabelScannerSettings,
): ScannerBody {
  const { model: name, modelMaxLength: maxLength, matchType, deobfuscate = false } = options;
  const { onUntrainedLanguage: treatment } = options;
  const model = withPathPrefix("model", () => engine.model(name, { maxLength }));
  const head = new LabelHead(model, labels);
  const threshold = resolveThreshold({ type, schema, options }, model.folder);
  const byLanguage = languageJudge({ type, engine, model, head: labels.head, treatment });
  const streaming = streamingOf(matchType);
  return {
    ...(streaming ? { streaming } : {}),
    asks: () => ({ model, head: labels.head }),
    load: async (signal) => {
      // What the languages need is known before a model that is here is loaded, and after one that is downloaded.
      await Promise.all([head.load(signal), byLanguage.load()]);
      await byLanguage.load();
    },
    close: () => model.close(),
    async check(text, context) {
      const { multiLabel, head: index, heads } = await head.described(context);
      // A blank text says nothing, whatever context the model would read with it.
      if (text.trim() === "") return passed(text);
      const { text: read, from } = judged(text, context);
      const { signal, answers } = context;
      const all: (readonly number[])[] = [];
      const score = async (view: string) => {
        const { parts, skipped } = await head.score(view, matchType, { signal, answers });
        for (const part of scores === undefined ? [] : parts) all.push(part.heads[index] ?? []);
        return {
          skipped,
          parts: parts.map((part): LabelledPart => ({ ...part, score: probabilityOf(part.labels, multiLabel) })),
        };
      };
      const judge = (view: string) => byLanguage.judge(view, score, correctedLabels, answers, signal);
      const disguised = scoreDisguised<LabelledPart>(read, { matchType, deobfuscate }, judge, answers, signal);
      const scored = since(await disguised, from);
      const labelled = labelVerdict(text, scored, { threshold, multiLabel, type: finding });
      const verdict = withUntrained(text, labelled, scored.untrained, treatment);
      if (scores === undefined) return verdict;
      const told = (heads[index]?.labels ?? []).map((label, at) => {
        const score = all.reduce((most, probabilities) => Math.max(most, probabilities[at] ?? 0), 0);
        return { start: 0, end: text.length, type: scores, score, label };
      });
      return { ...verdict, findings: [...verdict.findings, ...told.sort((a, b) => b.score - a.score)] };
    },
  };
}

/** Moves scored parts so that their offsets count from `from`, where the judged text begins. Parts before it are left out. */
function since<Part extends ScoredPart>(scored: ScoredText<Part>, from: number): ScoredText<Part> {
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
 * @param given the labels that the user names; the model must have all of them.
 * @param usual the labels that count when the user names none; only those that the model has are used.
 */
export function labelsOf(head: string, given: readonly string[] | undefined, usual: readonly string[]): WantedLabels {
  return { head, option: "labels", labels: given ?? usual, all: given !== undefined };
}
