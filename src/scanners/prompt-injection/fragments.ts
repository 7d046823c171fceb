import type { Span } from "../../text/span.ts";

/** A text with at most this many different words is no instruction, because an instruction needs an action and its object. */
const MAX_WORDS = 2;

/** A text with more letters than this is no fragment, even if it has no spaces. */
const MAX_LETTERS = 24;

/** Letters that are words or most of a word. Each counts as five letters: an order in Chinese has at least five. */
const LOGOGRAPHIC = /[\p{sc=Han}\p{sc=Hiragana}]/gu;
/** Letters that are syllables. Each counts as four letters. */
const SYLLABIC = /[\p{sc=Katakana}\p{sc=Hangul}]/gu;
/** Letters of other scripts without spaces between words. Each counts as two letters. */
const SPACELESS = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/gu;

const WORD = /\p{L}[\p{L}\p{M}]*/gu;

/** Match the rest of a word that the edge of a window cuts. */
const CUT_BEFORE = /[\p{L}\p{M}]{1,64}$/u;
const CUT_AFTER = /^[\p{L}\p{M}]{1,64}/u;

/**
 * Tells whether a part of a text is too short to be an instruction: one or two short words, however often they are repeated. Classifiers
 * take such fragments (`previous instructions`, `[REDACTED] [REDACTED]`) for the attacks that they were a part of in the training data.
 *
 * @param span the part. A word that it cuts counts as a whole.
 */
export function isFragment(text: string, { start, end }: Span): boolean {
  const before = CUT_BEFORE.exec(text.slice(Math.max(0, start - 64), start))?.[0] ?? "";
  const after = CUT_AFTER.exec(text.slice(end, end + 64))?.[0] ?? "";
  const words = new Set<string>();
  let letters = 0;
  for (const [word] of `${before}${text.slice(start, end)}${after}`.matchAll(WORD)) {
    const folded = word.toLowerCase();
    if (words.has(folded)) continue;
    words.add(folded);
    letters += word.length + 4 * count(word, LOGOGRAPHIC) + 3 * count(word, SYLLABIC) + count(word, SPACELESS);
    if (words.size > MAX_WORDS || letters > MAX_LETTERS) return false;
  }
  return true;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
