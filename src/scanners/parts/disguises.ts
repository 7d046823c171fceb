import { z } from "zod";
import { AnswerCache } from "../../models/call-context.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import type { Coverage } from "../../scan/scanner.ts";
import type { Span } from "../../text/span.ts";
import { decodeViews, type View } from "../../text/views.ts";
import { DISGUISES } from "../common-options.ts";
import type { UntrainedPart } from "./foreign-languages.ts";

/** The option of classifiers that also judge hidden content. */
export const deobfuscateOption = z
  .boolean()
  .default(true)
  .describe(
    `Also scores what the text says when ${DISGUISES} are undone; the worst counts. ` +
      "A text that hides nothing is scored once.",
  );

/** A part of a text, and the probability by which it fails. */
export interface ScoredPart extends Span {
  score: number;
  /** The view in which the part was found. It is absent when the text contains the part as it is written. */
  view?: string;
}

/** The scores of a text and of its views. */
export interface ScoredText<Part extends ScoredPart> {
  /** The parts of the text as it is written. The list is empty when a view replaces the text. */
  parts: Part[];
  /** The parts of its views, at the spans of the text from which they come. */
  others: Part[];
  /** The number of UTF-16 code units of the text that were not read. */
  skipped: number;
  /** The parts of the text that were left out because of their language. */
  untrained: UntrainedPart[];
}

/** The match types that read the whole text. */
export const READ_WHOLLY: readonly LongTextStrategy[] = ["windows", "sentence", "chunks"];

/**
 * Scores a text and, with `deobfuscate`, its views. A blank text has no scored parts.
 *
 * @param score returns the parts of a text, or of one of its views, with their probabilities.
 * @param answers the answers of this call, so that the views of a text are made once for all scanners.
 */
export async function scoreDisguised<Part extends ScoredPart>(
  text: string,
  { matchType, deobfuscate }: { matchType: LongTextStrategy; deobfuscate: boolean },
  score: (text: string) => Promise<Omit<ScoredText<Part>, "others">>,
  answers = new AnswerCache(),
  signal?: AbortSignal,
): Promise<ScoredText<Part>> {
  if (text.trim() === "") return { parts: [], others: [], skipped: 0, untrained: [] };
  const views = deobfuscate ? await answers.share("views", text, () => decodeViews(text, { signal }), signal) : [];
  const scored = views.map(async (view) => {
    const { parts, untrained, skipped } = await score(view.text);
    const sources = view.locate([...parts, ...untrained]);
    return {
      // Of what a view leaves out one only knows how much of the view it is.
      skipped: Math.ceil((skipped / view.text.length) * text.length),
      parts: parts.map((part, index): Part => ({ ...part, ...sources[index] })),
      untrained: untrained.map((part, index): UntrainedPart => ({ ...part, ...sources[parts.length + index] })),
    };
  });
  // A view of the whole disguised text replaces it. Models tend to take the disguise for an attack, but a disguise alone is no
  // offence.
  const isReplaced = READ_WHOLLY.includes(matchType) && views.some(({ canReplaceText }) => canReplaceText);
  const [plain, ...others] = await Promise.all([
    isReplaced ? { parts: [], skipped: 0, untrained: [] } : score(withoutDecoded(text, views)),
    ...scored,
  ]);
  return {
    ...plain,
    ...(READ_WHOLLY.includes(matchType)
      ? { skipped: Math.max(plain.skipped, ...others.map(({ skipped }) => skipped)) }
      : {}),
    others: others.flatMap(({ parts }) => parts),
    untrained: [...plain.untrained, ...others.flatMap(({ untrained }) => untrained)],
  };
}

/** The encodings that nobody can read as they are written. */
const UNREADABLE = /^(?:base64|base32|hex|binary)\b/;
/** A run of their characters, longer than words are. */
const ENCODED = /[\w+/=-]{16,}/g;

/**
 * Returns a text with blanks in place of what a view decodes, of the same length. Models take runs of such letters for an attack, and what they
 * say is judged in the view.
 */
function withoutDecoded(text: string, views: readonly View[]): string {
  let read = text;
  for (const view of views) {
    for (const { start, end, view: name } of view.locate([{ start: 0, end: view.text.length }])) {
      if (!UNREADABLE.test(name)) continue;
      const blank = read.slice(start, end).replace(ENCODED, ({ length }) => " ".repeat(length));
      read = read.slice(0, start) + blank + read.slice(end);
    }
  }
  return read;
}

/** Returns how much of a text was read. */
export function coverageOf(
  text: string,
  { parts, others, skipped }: Pick<ScoredText<ScoredPart>, "parts" | "others" | "skipped">,
): Coverage {
  return {
    chars: text.length,
    scannedChars: text.length - skipped,
    truncated: skipped > 0,
    windows: parts.length || others.length,
  };
}

/** Returns the first of the parts with the highest score. */
export function worstOf<Part extends ScoredPart>(parts: readonly Part[]): Part | undefined {
  return parts.reduce<Part | undefined>(
    (worst, part) => (worst && worst.score >= part.score ? worst : part),
    undefined,
  );
}

/** Returns the parts above a threshold. A part of a view is left out when another part says the same about less text. */
export function failing<Part extends ScoredPart>({ parts, others }: ScoredText<Part>, threshold: number): Part[] {
  const failed = ({ score }: Part) => score > threshold;
  const plain = parts.filter(failed);
  return [...plain, ...narrowest(others.filter(failed), plain)];
}

/** Returns the parts that contain no other of the parts and none of `known`. All others say the same about more text. */
function narrowest<Part extends ScoredPart>(parts: readonly Part[], known: readonly Part[]): Part[] {
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
