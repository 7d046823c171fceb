import { z } from "zod";
import { AnswerCache, type CallContext } from "../../models/call-context.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import type { Coverage } from "../../scan/scanner.ts";
import type { Span } from "../../text/span.ts";
import { decodeViews, type View } from "../../text/views.ts";
import { DISGUISES } from "../common-options.ts";
import type { UntrainedPart } from "./untrained-languages.ts";

/** The option of classifiers that also score what a text says when disguises are undone. */
export const deobfuscateOption = z
  .boolean()
  .default(true)
  .describe(
    `Also scores the decoded text, in which ${DISGUISES} are undone. The worst part counts. ` +
      "A text without disguises is scored once.",
  );

/** A part of a text. */
export interface TextPart extends Span {
  /** The view that contains the part. It is absent when the text itself contains it. */
  view?: string;
}

/** A part of a text with the probability that it should fail. */
export interface ScoredPart extends TextPart {
  score: number;
}

/** The scores of a text and of its views. */
export interface ScoredText<Part extends TextPart> {
  /** The parts of the text as written. The list is empty when a view replaces the text. */
  parts: Part[];
  /** The parts of its views, with the spans of the text that they were decoded from. */
  others: Part[];
  /** How many UTF-16 code units of the text were not read. */
  skipped: number;
  /** The parts that were left out because of their language. */
  untrained: UntrainedPart[];
}

/** The strategies that read the whole text. */
export const WHOLE_TEXT_STRATEGIES: readonly LongTextStrategy[] = ["windows", "sentence", "chunks"];

/**
 * Scores a text and, with `deobfuscate`, its views. A blank text has no scored parts.
 *
 * @param score returns the parts of a text, or of one of its views, with their probabilities.
 */
export async function scoreViews<Part extends TextPart>(
  text: string,
  { matchType, deobfuscate }: { matchType: LongTextStrategy; deobfuscate: boolean },
  score: (text: string) => Promise<Omit<ScoredText<Part>, "others">>,
  context: CallContext = {},
): Promise<ScoredText<Part>> {
  if (text.trim() === "") return { parts: [], others: [], skipped: 0, untrained: [] };
  const views = deobfuscate ? await viewsOf(text, context) : [];
  const scored = views.map(async (view) => {
    const { parts, untrained, skipped } = await score(view.text);
    const sources = view.locate([...parts, ...untrained]);
    return {
      // The score of a view says only how much of the view was skipped, so the share of the text is an estimate.
      skipped: Math.ceil((skipped / view.text.length) * text.length),
      parts: parts.map((part, index): Part => ({ ...part, ...sources[index] })),
      untrained: untrained.map((part, index): UntrainedPart => ({ ...part, ...sources[parts.length + index] })),
    };
  });
  // A view of the whole disguised text replaces it. Models tend to take a disguise for an attack, but a disguise alone is harmless.
  const isReplaced = WHOLE_TEXT_STRATEGIES.includes(matchType) && views.some(({ canReplaceText }) => canReplaceText);
  const [plain, ...others] = await Promise.all([
    isReplaced ? { parts: [], skipped: 0, untrained: [] } : score(withoutDecoded(text, views)),
    ...scored,
  ]);
  return {
    ...plain,
    ...(WHOLE_TEXT_STRATEGIES.includes(matchType)
      ? { skipped: Math.max(plain.skipped, ...others.map(({ skipped }) => skipped)) }
      : {}),
    others: others.flatMap(({ parts }) => parts),
    untrained: [...plain.untrained, ...others.flatMap(({ untrained }) => untrained)],
  };
}

/** Returns the views of a text, which the scanners of a call share. */
function viewsOf(text: string, { answers = new AnswerCache(), signal }: CallContext): Promise<View[]> {
  return answers.share("views", text, () => decodeViews(text, { signal }), signal);
}

/**
 * Returns a text of the same length, with spaces in place of the encoded parts that a view decodes. Models take such parts for an attack,
 * and the view is scored by itself.
 */
function withoutDecoded(text: string, views: readonly View[]): string {
  return views.reduce((read, { encoded }) => {
    const pieces: string[] = [];
    let at = 0;
    for (let index = 0; index < encoded.length; index += 2) {
      const [start = 0, end = 0] = encoded.subarray(index, index + 2);
      pieces.push(read.slice(at, start), " ".repeat(end - start));
      at = end;
    }
    return at === 0 ? read : pieces.join("") + read.slice(at);
  }, text);
}

/** Returns how much of a text was read. */
export function coverageOf(
  text: string,
  { parts, others, skipped }: Pick<ScoredText<TextPart>, "parts" | "others" | "skipped">,
): Coverage {
  return {
    chars: text.length,
    scannedChars: text.length - skipped,
    truncated: skipped > 0,
    windows: parts.length || others.length,
  };
}

/** Returns the first of the parts with the highest score. */
export function worstPart<Part extends ScoredPart>(parts: readonly Part[]): Part | undefined {
  return parts.reduce<Part | undefined>(
    (worst, part) => (worst && worst.score >= part.score ? worst : part),
    undefined,
  );
}

/** Returns the parts above a threshold. A part of a view is left out when another failing part lies within it. */
export function failingParts<Part extends ScoredPart>(scored: ScoredText<Part>, threshold: number): Part[] {
  return filterParts(scored, ({ score }) => score > threshold);
}

/** Returns the parts that fail. A part of a view is left out when another failing part lies within it. */
export function filterParts<Part extends TextPart>(
  { parts, others }: ScoredText<Part>,
  isFailing: (part: Part) => boolean,
): Part[] {
  const plain = parts.filter(isFailing);
  return [...plain, ...narrowestParts(others.filter(isFailing), plain)];
}

/** Returns the parts that contain no other part, and none of `known`. The others say the same about more text. */
function narrowestParts<Part extends TextPart>(parts: readonly Part[], known: readonly Part[]): Part[] {
  // The parts are visited from the last to the first. A part that lies within another one is then visited before it, and `end` is
  // the smallest end so far.
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
