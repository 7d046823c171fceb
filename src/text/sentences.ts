import { type Abortable, addon, native } from "../native.ts";
import type { Span } from "./span.ts";

/** A sentence of a text. */
export interface Sentence extends Span {
  text: string;
}

/**
 * Splits a text into sentences, without the white space between them. A full stop, an exclamation or question mark, a blank line
 * and a Chinese full stop end a sentence. Abbreviations, decimals, initials, URLs, ellipses and list numbers do not.
 *
 * @param abortable its signal aborts the work, which then rejects with its reason.
 */
export async function splitSentences(text: string, abortable: Abortable = {}): Promise<Sentence[]> {
  const offsets = await native(() => addon.splitSentences(text), abortable);
  const sentences: Sentence[] = [];
  for (let index = 0; index < offsets.length; index += 2) {
    const [start, end] = [offsets[index] as number, offsets[index + 1] as number];
    sentences.push({ start, end, text: text.slice(start, end) });
  }
  return sentences;
}
