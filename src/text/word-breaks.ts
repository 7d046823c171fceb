/**
 * Characters of scripts that write no spaces between words, and their punctuation: a text may be cut between any two of them (the
 * classes ID and SA of UAX #14, Unicode Line Breaking Algorithm).
 */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]/u;

/** Tells whether a word may end behind a character although no white space follows. */
export function isSpaceless(character: string): boolean {
  return SPACELESS.test(character);
}

/** Tells whether a text has several words, so that it may be cut into two. */
export function hasSeveralWords(text: string): boolean {
  return /\s/.test(text) || SPACELESS.test(text);
}
