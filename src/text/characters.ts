/** Returns the code point at an offset, or an empty string at the end of the text. */
export function characterAt(text: string, offset: number): string {
  return offset < text.length ? String.fromCodePoint(text.codePointAt(offset) as number) : "";
}

let segmenter: Intl.Segmenter | undefined;

/** Returns the segmenter of user-perceived characters (UAX #29). It is created lazily, because that takes a tenth of guard's import time. */
export function characterSegmenter(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter;
}

/** Returns the code point before an offset, or an empty string at the start of the text. */
export function characterBefore(text: string, offset: number): string {
  const isPair = /[\udc00-\udfff]/.test(text.charAt(offset - 1)) && /[\ud800-\udbff]/.test(text.charAt(offset - 2));
  return text.slice(Math.max(0, offset - (isPair ? 2 : 1)), offset);
}

/**
 * Characters of scripts that write no spaces between words, and their punctuation. A text may be cut between any two of them: the classes
 * ID and SA of UAX #14, Unicode Line Breaking Algorithm.
 */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]/u;

/** Whether a character belongs to a script without spaces, so that a word may end after it. */
export function isSpacelessScript(character: string): boolean {
  return SPACELESS.test(character);
}

/** Whether a text has several words, so that it can be cut in two. */
export function hasSeveralWords(text: string): boolean {
  return /\s/.test(text) || SPACELESS.test(text);
}
