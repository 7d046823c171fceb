import { type Abortable, addon, native } from "../native.ts";
import type { Span } from "./span.ts";

/** A sentence of a text. */
export interface Sentence extends Span {
  text: string;
}

/**
 * Splits a text into sentences, without the white space between them. A sentence ends at a full stop, an exclamation or question mark, a
 * blank line or a Chinese full stop. Abbreviations, decimals, initials, URLs, ellipses and list numbers do not end it.
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
