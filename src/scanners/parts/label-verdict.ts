import type { LabelScore } from "../../models/label-head.ts";
import { type Finding, passed, type Verdict } from "../../scanner.ts";
import { riskScore } from "../score.ts";
import { coverageOf, failing, type ScoredPart, type ScoredText, worstOf } from "./disguises.ts";

/** A part of a text with the labels that its score comes from. */
export interface LabelledPart extends ScoredPart {
  labels: LabelScore[];
}

/** How labels are judged. */
export interface Judgement {
  threshold: number;
  /** Whether each label stands for itself: one may be above the threshold and another one not. */
  multiLabel: boolean;
  /** The type of findings. */
  type: string;
}

/** The probability of a part: of labels that stand for themselves that of the likeliest one, otherwise the sum of all. */
export function probabilityOf(labels: readonly LabelScore[], multiLabel: boolean): number {
  if (multiLabel) return likeliest(labels).score;
  return Math.min(
    1,
    labels.reduce((sum, { score }) => sum + score, 0),
  );
}

/** The verdict on a text by its worst part, with a finding for each part and label above the threshold. */
export function labelVerdict(
  text: string,
  scored: ScoredText<LabelledPart>,
  { threshold, multiLabel, type }: Judgement,
): Verdict {
  const coverage = coverageOf(text, scored);
  const worst = worstOf([...scored.parts, ...scored.others]);
  if (!worst) return passed(text, coverage);
  const findings = failing(scored, threshold).flatMap(({ start, end, score, labels, view }) => {
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

function likeliest(labels: readonly LabelScore[]): LabelScore {
  return labels.reduce((best, label) => (label.score > best.score ? label : best));
}
