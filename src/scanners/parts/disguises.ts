import { z } from "zod";
import { AnswerCache } from "../../models/answer-cache.ts";
import type { Reading } from "../../models/reading.ts";
import type { Coverage } from "../../scanner.ts";
import type { Span } from "../../text/span.ts";
import { revealingViews } from "../../text/views.ts";
import { DISGUISES } from "../../validation/options.ts";

/** The option of classifiers that also judge what a text hides. */
export const deobfuscateOption = z
  .boolean()
  .default(true)
  .describe(
    `Also scores what the text says when ${DISGUISES} are undone; the worst counts. ` +
      "A text that hides nothing is scored once.",
  );

/** A part of a text and the probability that it fails by. */
export interface ScoredPart extends Span {
  score: number;
  /** The view that the part was found in, where the text does not have it as it is written. */
  view?: string;
}

/** What became of a text. */
export interface ScoredText<Part extends ScoredPart> {
  /** Parts of the text as it is written; none where a view replaces the text. */
  parts: Part[];
  /** Parts of its views, as the spans of the text that they come from. */
  others: Part[];
  /** UTF-16 code units of the text that were not read. */
  skipped: number;
}

/** The match types that leave nothing out. */
export const READ_WHOLLY: readonly Reading[] = ["windows", "sentence", "chunks"];

/**
 * Scores a text and, with `deobfuscate`, its views; nothing of a blank text.
 *
 * @param score the parts of a text, or of a view of it, with their probabilities.
 * @param answers what is known of the texts of this call: the views of a text are made once for all scanners.
 */
export async function scoreDisguised<Part extends ScoredPart>(
  text: string,
  { matchType, deobfuscate }: { matchType: Reading; deobfuscate: boolean },
  score: (text: string) => Promise<Pick<ScoredText<Part>, "parts" | "skipped">>,
  answers = new AnswerCache(),
): Promise<ScoredText<Part>> {
  if (text.trim() === "") return { parts: [], others: [], skipped: 0 };
  const views = deobfuscate ? await answers.derive("views", text, revealingViews) : [];
  const scored = views.map(async (view) => {
    const { parts } = await score(view.text);
    const sources = view.locate(parts);
    return parts.map((part, index): Part => ({ ...part, ...sources[index] }));
  });
  // A view of all of a disguised text replaces it: a disguise by itself is no offence, though models take it for one.
  const isReplaced = READ_WHOLLY.includes(matchType) && views.some(({ replacesText }) => replacesText);
  const [plain, ...others] = await Promise.all([isReplaced ? { parts: [], skipped: 0 } : score(text), ...scored]);
  return { ...plain, others: others.flat() };
}

/** How much of a text was read. */
export function coverageOf(text: string, { parts, others, skipped }: ScoredText<ScoredPart>): Coverage {
  return {
    chars: text.length,
    scannedChars: text.length - skipped,
    truncated: skipped > 0,
    windows: parts.length || others.length,
  };
}

/** The first part with the highest score. */
export function worstOf<Part extends ScoredPart>(parts: readonly Part[]): Part | undefined {
  return parts.reduce<Part | undefined>(
    (worst, part) => (worst && worst.score >= part.score ? worst : part),
    undefined,
  );
}

/** The parts above a threshold, without those of views that say the same of more text than another one does. */
export function failing<Part extends ScoredPart>({ parts, others }: ScoredText<Part>, threshold: number): Part[] {
  const failed = ({ score }: Part) => score > threshold;
  const plain = parts.filter(failed);
  return [...plain, ...narrowest(others.filter(failed), plain)];
}

/** Those parts within which no other of them, and none of `known`, lies: the rest say the same of more text. */
function narrowest<Part extends ScoredPart>(parts: readonly Part[], known: readonly Part[]): Part[] {
  // The last first: what lies within a part then comes before it, and has the least end that is to come.
  const ordered = [...known, ...parts].sort((a, b) => b.start - a.start || a.end - b.end);
  const isKnown = new Set(known);
  let end = Number.POSITIVE_INFINITY;
  const chosen: Part[] = [];
  for (const part of ordered) {
    if (!isKnown.has(part) && part.end < end) chosen.push(part);
    end = Math.min(end, part.end);
  }
  return chosen.reverse();
}
