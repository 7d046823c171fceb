import { type Abortable, addon, native } from "../native.ts";
import { mapRows } from "./rows.ts";
import type { Span } from "./span.ts";

/** A passage of a text that repeats another text. */
export interface Passage extends Span {
  /** The index of the repeated text. If several texts contain the passage, the first one counts. */
  other: number;
  /** The length in words, or in letters, rounded down. */
  words: number;
  /** The view in which it was found. It is absent when the text contains the passage as it is written. */
  view?: string;
}

/** The passages that a text repeats from other texts. */
export interface Overlap {
  /** The passages: first those of the text itself, in order and without overlaps, then those that only its views contain. */
  passages: Passage[];
  /** The share of the words of the text that the passages cover, 0..1. */
  share: number;
  /** For each of the other texts: how many of its words the text repeats, and how many words it has. */
  others: { words: number; of: number }[];
}

/** The options of {@link findOverlap}. */
export interface OverlapOptions extends Abortable {
  /** The length of the shortest passage that counts, in words or letters. The default is 8. */
  minimum?: number;
  /**
   * The unit of lengths. `words`: words, where a character of a script without spaces between words (Chinese, Japanese,
   * Thai, ...) counts as half a word. `letters`: letters and digits. Other characters are ignored, so passages without their
   * spaces are found too. The default is `words`.
   */
  count?: "words" | "letters";
  /** Texts that may be repeated: passages of these texts do not count. The default is none. */
  except?: readonly string[];
  /** Whether decoded views of the text are searched too, such as base64. The default is false. */
  deobfuscate?: boolean;
}

/**
 * Finds the passages of a text that repeat one of the others. Case, accents, punctuation, white space, invisible characters and
 * compatibility forms are ignored. Every passage with at least the minimum length is found if it begins and ends with whole words. The
 * passages may be in any order. The time is linear in the length of all texts together.
 */
export async function findOverlap(
  text: string,
  others: readonly string[],
  { minimum = 8, count = "words", except = [], deobfuscate = false, signal }: OverlapOptions = {},
): Promise<Overlap> {
  const options = { minimum, count, deobfuscate };
  const { passages, views, ...found } = await native(() => addon.overlap(text, [...others], [...except], options), {
    signal,
  });
  return {
    ...found,
    passages: mapRows(passages, 5, (column) => {
      const view = views[column(4)];
      const passage = { start: column(0), end: column(1), other: column(2), words: column(3) };
      return view === undefined ? passage : { ...passage, view };
    }),
  };
}
