import type { CallContext } from "../../models/call-context.ts";
import type { LabelScore } from "../../models/label-head.ts";
import type { Detection } from "../../scan/scanner.ts";
import type { Source } from "../../scan/source.ts";
import type { ScoredPart, ScoredText } from "../parts/scored-text.ts";

/**
 * A {@link Detection} with `attack`, the kind of attack if the part is one. It may differ from `category`: below a probability of one
 * half, the likeliest label may say that the part is harmless.
 */
export type AttackDetection = Detection & { attack: string };

/** A part of a text with the probability of an injection in it. */
export type InjectionPart = ScoredPart & AttackDetection;

/** Finds injections in texts: with a model, or with a classifier of the caller. */
export interface InjectionDetector {
  /** The folder of the model, if there is one on this machine. */
  readonly folder: string | undefined;
  load(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Scores the parts of a text and of its views. */
  score(text: string, source: Source, context: CallContext): Promise<ScoredText<InjectionPart>>;
}

/** Adds up probabilities. Classifiers compute in single precision, so the sum may be a little more than 1. */
export function sumOfScores(scores: readonly LabelScore[]): number {
  return Math.min(
    1,
    scores.reduce((total, { score }) => total + score, 0),
  );
}

/** Returns the label with the highest score. */
export function likeliestLabel(scores: readonly LabelScore[]): string {
  return topLabel(
    scores.map(({ label }) => label),
    scores.map(({ score }) => score),
  );
}

/** Returns the label with the highest score, by indices. */
export function topLabel(labels: readonly string[], scores: readonly number[]): string {
  return labels[scores.indexOf(Math.max(...scores))] ?? "";
}
