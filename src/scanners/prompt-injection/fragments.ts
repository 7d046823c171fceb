import type { Span } from "../../text/span.ts";

/** Different words that a text must have more than, to order anything: one for what to do, and one for what to do it to. */
const WORDS = 2;

/** Letters that so few words must have more than. It is longer than two words and shorter than an order without spaces. */
const LETTERS = 24;

/** A letter of a script that has no spaces between words counts as so many: it is a syllable or a word of its own. */
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;
const WITHOUT_SPACES = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/gu;

const WORD = /\p{L}[\p{L}\p{M}]*/gu;

/** The beginning and the end of words that the edge of a window cuts off. */
const CUT_BEFORE = /[\p{L}\p{M}]{1,64}$/u;
const CUT_BEHIND = /^[\p{L}\p{M}]{1,64}/u;

/**
 * Tells whether a part of a text says too little to be an order: one or two short words, however often they are repeated. Classifiers take
 * such fragments (`previous instructions`, `[REDACTED] [REDACTED]`) for what they were part of in the texts that they learnt from.
 *
 * @param span the part; a word that it cuts counts as a whole.
 */
export function isFragment(text: string, { start, end }: Span): boolean {
  const before = CUT_BEFORE.exec(text.slice(Math.max(0, start - 64), start))?.[0] ?? "";
  const behind = CUT_BEHIND.exec(text.slice(end, end + 64))?.[0] ?? "";
  const words = new Set<string>();
  let letters = 0;
  for (const [word] of `${before}${text.slice(start, end)}${behind}`.matchAll(WORD)) {
    const folded = word.toLowerCase();
    if (words.has(folded)) continue;
    words.add(folded);
    letters += word.length + 3 * count(word, DENSE) + count(word, WITHOUT_SPACES);
    if (words.size > WORDS || letters > LETTERS) return false;
  }
  return true;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
