import { addon } from "./native.ts";

/** A sentence of a text. Offsets are UTF-16 code units. */
export interface Sentence {
  start: number;
  end: number;
  text: string;
}

/**
 * Splits a text into sentences, without the white space between them. A full stop, exclamation or question mark, a blank line
 * and a Chinese full stop end a sentence; abbreviations, decimals, initials, URLs, ellipses and list numbers do not.
 */
export function splitSentences(text: string): Sentence[] {
  return addon.splitSentences(text).map(({ start, end }) => ({ start, end, text: text.slice(start, end) }));
}
