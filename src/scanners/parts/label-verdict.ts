import type { LabelScore } from "../../models/label-head.ts";
import { type Finding, passed, type Verdict } from "../../scan/scanner.ts";
import { riskScore } from "../../scan/score.ts";
import type { Calibration } from "./calibration.ts";
import { coverageOf, failingParts, type ScoredPart, type ScoredText, worstPart } from "./scored-text.ts";

/** A part of a text with the label scores that its score is computed from. */
export interface LabelledPart extends ScoredPart {
  labels: LabelScore[];
}

export interface LabelVerdictOptions {
  threshold: number;
  /** Whether each label has a probability of its own, so that one label can be above the threshold and another one below. */
  multiLabel: boolean;
  /** The type of findings. */
  type: string;
}

/**
 * Returns the probability of a part. If each label has a probability of its own, it is that of the likeliest label. Otherwise it is the
 * sum over the labels.
 */
export function probabilityOf(labels: readonly LabelScore[], multiLabel: boolean): number {
  if (multiLabel) return likeliest(labels).score;
  return Math.min(
    1,
    labels.reduce((sum, { score }) => sum + score, 0),
  );
}

/** Returns a part with its probabilities corrected for its language. */
export function correctedLabels<Part extends LabelledPart>(part: Part, correct: Calibration): Part {
  const labels = part.labels.map(({ label, score }) => ({ label, score: correct(score) }));
  return { ...part, labels, score: correct(part.score) };
}

/** Returns the verdict on a text. The worst part decides, and each part and label above the threshold gets a finding. */
export function labelVerdict(
  text: string,
  scored: ScoredText<LabelledPart>,
  { threshold, multiLabel, type }: LabelVerdictOptions,
): Verdict {
  const coverage = coverageOf(text, scored);
  const worst = worstPart([...scored.parts, ...scored.others]);
  if (!worst) return passed(text, coverage);
  const findings = failingParts(scored, threshold).flatMap(({ start, end, score, labels, view }) => {
    const named = multiLabel
      ? labels.filter((label) => label.score > threshold)
      : [{ label: likeliest(labels).label, score }];
    return named.map(
      ({ label, score }): Finding => ({
        ...{ start, end, type, text: text.slice(start, end), score, label },
        ...(view === undefined ? {} : { view }),
      }),
    );
  });
  const score = riskScore(worst.score, threshold);
  return { isValid: findings.length === 0, score, probability: worst.score, findings, coverage };
}

/** Returns the likeliest label, and a score of 0 if there are no labels. */
function likeliest(labels: readonly LabelScore[]): LabelScore {
  return labels.reduce(
    (best, label) => (label.score > best.score ? label : best),
    labels[0] ?? { label: "", score: 0 },
  );
}
