import type { LabelScore } from "../../models/label-head.ts";
import { type Finding, passed, type Verdict } from "../../scan/scanner.ts";
import { riskScore } from "../../scan/score.ts";
import { highestByKey } from "../../support/highest-by-key.ts";
import type { Calibration } from "../parts/calibration.ts";
import { coverageOf, filterParts, type ScoredText, type TextPart } from "../parts/scored-text.ts";
import { HARM_FINDING, HARM_SCORE_FINDING, HARMFUL } from "./categories.ts";

/** A part of a text with the probabilities of its labels. */
export interface HarmPart extends TextPart {
  /** The probabilities of `harmful` and of the categories. No category is likelier than `harmful`. */
  labels: readonly LabelScore[];
  /** The label whose probability is highest above its threshold, or least below it. */
  deciding: LabelScore;
  /** How far the deciding label is above its threshold; see {@link marginOf}. Parts compare by it, because labels have different thresholds. */
  margin: number;
}

/** The labels that make a text fail, with their thresholds. */
export type Thresholds = ReadonlyMap<string, number>;

/** A category is named as a reason if its probability is above this, or above the threshold if that is lower. */
const LIKELIER_THAN_NOT = 0.5;

/** Returns how far a probability is above its threshold, or below it: -1 to 1, and above 0 if the text fails. */
function marginOf(probability: number, threshold: number): number {
  if (probability > threshold) return (probability - threshold) / (1 - threshold);
  return threshold === 0 ? -1 : (probability - threshold) / threshold;
}

/** Lowers the probabilities of categories to that of `harmful`: a category counts only if the text is harmful. */
export function withinHarm(labels: readonly LabelScore[]): LabelScore[] {
  const harmful = scoreOf(labels, HARMFUL);
  return labels.map(({ label, score }) => ({ label, score: Math.min(score, harmful) }));
}

/** Returns the probability of a label, and 0 for a label that the model does not have. */
export function scoreOf(labels: readonly LabelScore[], wanted: string): number {
  return labels.find(({ label }) => label === wanted)?.score ?? 0;
}

/** Returns a part with its margin. */
export function harmPart(
  { start, end }: { start: number; end: number },
  labels: readonly LabelScore[],
  thresholds: Thresholds,
): HarmPart {
  const counted = [...thresholds].map(([label, threshold]) => {
    const score = scoreOf(labels, label);
    return { label, score, margin: marginOf(score, threshold) };
  });
  const { margin, ...deciding } = counted.reduce((worst, next) => (next.margin > worst.margin ? next : worst));
  return { start, end, labels, deciding, margin };
}

/** Returns a part with its probabilities corrected for its language. */
export function correctedHarm(thresholds: Thresholds): (part: HarmPart, correct: Calibration) => HarmPart {
  return (part, correct) => {
    const labels = part.labels.map(({ label, score }) => ({ label, score: correct(score) }));
    return { ...part, ...harmPart(part, labels, thresholds) };
  };
}

/**
 * Returns the verdict on a text. The part that is furthest above its threshold decides.
 *
 * @param isAnyHarm whether harm of any category makes a text fail. The findings then name `harmful`, and the likely categories.
 */
export function harmVerdict(
  text: string,
  scored: ScoredText<HarmPart>,
  { thresholds, isAnyHarm, hasScores }: { thresholds: Thresholds; isAnyHarm: boolean; hasScores: boolean },
): Verdict {
  const coverage = coverageOf(text, scored);
  const parts = [...scored.parts, ...scored.others];
  const [first, ...rest] = parts;
  if (!first) return passed(text, coverage);
  const worst = rest.reduce((worst, part) => (part.margin > worst.margin ? part : worst), first);
  const named = (part: HarmPart) =>
    part.labels.filter(({ label, score }) => {
      const threshold = thresholds.get(isAnyHarm ? HARMFUL : label);
      if (threshold === undefined) return false;
      return score > (isAnyHarm && label !== HARMFUL ? Math.min(threshold, LIKELIER_THAN_NOT) : threshold);
    });
  const reasons = filterParts(scored, ({ margin }) => margin > 0).flatMap((part) => {
    const { start, end, view } = part;
    const place = { start, end, type: HARM_FINDING, text: text.slice(start, end) };
    return named(part)
      .sort((a, b) => b.score - a.score)
      .map((label): Finding => ({ ...place, ...label, ...(view === undefined ? {} : { view }) }));
  });
  const { label, score: probability } = worst.deciding;
  return {
    isValid: reasons.length === 0,
    score: riskScore(probability, thresholds.get(label) as number),
    probability,
    findings: hasScores ? [...reasons, ...scoreFindings(text, parts)] : reasons,
    coverage,
  };
}

/** Returns a finding for each label of the model, with its highest probability in the text, the likeliest label first. */
function scoreFindings(text: string, parts: readonly HarmPart[]): Finding[] {
  return [...highestByKey(parts.flatMap(({ labels }) => labels.map(({ label, score }) => [label, score] as const)))]
    .map(([label, score]): Finding => ({ start: 0, end: text.length, type: HARM_SCORE_FINDING, score, label }))
    .sort((a, b) => b.score - a.score);
}
