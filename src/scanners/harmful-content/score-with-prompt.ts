import type { LimitFunction } from "p-limit";
import type { CallContext } from "../../models/call-context.ts";
import type { LabelHead, LabelScore, ScoredLabels } from "../../models/label-head.ts";
import { highestByKey } from "../../support/highest-by-key.ts";
import { lazy } from "../../support/lazy.ts";
import { HARMFUL } from "./categories.ts";
import { scoreOf, withinHarm } from "./harm-verdict.ts";

/** How many UTF-16 code units from the end of a prompt are read before each piece of its answer: half of a window in English. */
export const PROMPT_CHARS = 512;
/** The maximum length of these pieces in UTF-16 code units: the other half of a window. */
export const PIECE_CHARS = 512;
/** What the model was trained to read between a prompt and its answer (`own_harm` in training/multitask/sets.py). */
const SEPARATOR = "\n\n";
/** The prompt is read alone only if the joint reading has a probability above this, or above the lowest threshold if that is lower. */
const MIN_EVIDENCE = 0.1;
/** A prompt above this is harmful by itself. A lower threshold replaces it, so that no prompt fails an answer by itself. */
const HARMFUL_PROMPT = 0.5;
/** Probabilities are clamped to this distance from 0 and 1, where the logarithm of the odds is not finite. */
const MIN_DISTANCE = 1e-6;

/** An answer with its prompt, and the settings of its scanner. */
export interface PromptedAnswer {
  prompt: string;
  answer: string;
  /** The lowest probability that can change the outcome: the lowest threshold, or the review threshold. */
  lowestThreshold: number;
  /** Limits how many texts of the call are read concurrently. */
  limit: LimitFunction;
}

/**
 * Raises the probabilities of each part of an answer to those of its joint reading with the prompt.
 *
 * If the prompt is harmful by itself, the joint reading may be harmful only because of the prompt, as with a refusal. Each of its
 * probabilities is then averaged with that of the answer alone, in the logarithms of the odds, so that both have to be high.
 *
 * @param parts the parts of the answer, read alone. No category is likelier than `harmful`.
 */
export async function scoreWithPrompt(
  head: Pick<LabelHead, "score">,
  parts: readonly ScoredLabels[],
  { prompt, answer, lowestThreshold, limit }: PromptedAnswer,
  context: CallContext,
): Promise<ScoredLabels[]> {
  const promptEnd = endOf(prompt);
  const isPromptHarmful = lazy(async () => {
    const { parts } = await limit(() => head.score(promptEnd, "windows", context));
    return parts.some(({ labels }) => scoreOf(labels, HARMFUL) > Math.min(HARMFUL_PROMPT, lowestThreshold));
  });
  return Promise.all(
    parts.map(async (part) => {
      const pieces = piecesOf(answer.slice(part.start, part.end));
      const readings = await Promise.all(
        pieces.map((piece) => limit(() => readAfterPrompt(head, promptEnd, piece, context))),
      );
      const joint = highestOf(readings.flat());
      const raised = joint.filter(({ label, score }) => score > scoreOf(part.labels, label));
      if (raised.length === 0) return part;
      const averaged = joint.map(({ label, score }) => ({
        label,
        score: meanOfOdds(score, scoreOf(part.labels, label)),
      }));
      const hasEvidence = raised.some(({ score }) => score > Math.min(MIN_EVIDENCE, lowestThreshold));
      const isJointEnough = hasEvidence && !(await isPromptHarmful());
      return { ...part, labels: highestOf([part.labels, isJointEnough ? joint : averaged]) };
    }),
  );
}

/** Reads a piece of an answer after its prompt. Windows without any of the piece do not count. */
async function readAfterPrompt(
  head: Pick<LabelHead, "score">,
  promptEnd: string,
  piece: string,
  context: CallContext,
): Promise<LabelScore[][]> {
  const before = promptEnd + SEPARATOR;
  const { parts } = await head.score(before + piece, "windows", context);
  return parts.filter(({ end }) => end > before.length).map(({ labels }) => withinHarm(labels));
}

/** Returns the end of a prompt. A surrogate pair is not cut. */
function endOf(prompt: string): string {
  return prompt.slice(-PROMPT_CHARS).replace(/^[\udc00-\udfff]/, "");
}

/**
 * Cuts a text into pieces of about equal length, none of them longer than {@link PIECE_CHARS}. A boundary within a surrogate pair moves to
 * its end, and the count leaves room for that.
 */
function piecesOf(text: string): string[] {
  const count = text.length <= PIECE_CHARS ? 1 : Math.ceil(text.length / (PIECE_CHARS - 1));
  const boundary = (index: number) => {
    const at = Math.round((index * text.length) / count);
    return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at;
  };
  return Array.from({ length: count }, (_, index) => text.slice(boundary(index), boundary(index + 1))).filter(
    (piece) => piece.trim() !== "",
  );
}

/** Returns each label with its highest probability in some readings. */
function highestOf(readings: readonly (readonly LabelScore[])[]): LabelScore[] {
  const highest = highestByKey(readings.flat().map(({ label, score }) => [label, score]));
  return [...highest].map(([label, score]) => ({ label, score }));
}

/** Returns the probability whose log odds are the mean of those of two probabilities. */
function meanOfOdds(one: number, other: number): number {
  const logit = (probability: number) => {
    const inside = Math.min(1 - MIN_DISTANCE, Math.max(MIN_DISTANCE, probability));
    return Math.log(inside / (1 - inside));
  };
  return 1 / (1 + Math.exp(-(logit(one) + logit(other)) / 2));
}
