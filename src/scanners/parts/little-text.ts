/** Different words that a text must have more than, to order anything: one for what to do, and one for what to do it to. */
const WORDS = 2;

/** Letters that so few words must have more than. It is longer than two words and shorter than an order without spaces. */
const LETTERS = 24;

/** A letter of a script that has no spaces between words counts as so many: it is a syllable or a word of its own. */
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;
const WITHOUT_SPACES = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/gu;

const WORD = /\p{L}[\p{L}\p{M}]*/gu;

/**
 * Tells whether a text says too little to be an order: one or two short words, however often they are repeated. Classifiers take
 * such fragments (`previous instructions`, `[REDACTED] [REDACTED]`) for what they were part of in the texts that they learnt from.
 *
 * @param text the text, or the part of a text that is judged by itself.
 */
export function saysTooLittle(text: string): boolean {
  const words = new Set<string>();
  let letters = 0;
  for (const [word] of text.matchAll(WORD)) {
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
