import { decodedTogether } from "./assembly/encoded-pieces.ts";
import { numberedParts } from "./assembly/numbered-parts.ts";
import { assembledValues } from "./assembly/variables.ts";

/** At most this many strings are returned. */
export const MOST_ASSEMBLED = 4;

/** Longer strings are cut to this many UTF-16 code units. */
export const LONGEST_ASSEMBLED = 4000;

/** At most this many UTF-16 code units are read, those of the latest texts first. */
const MOST_READ = 65_536;

/** So many candidates are compared with the texts. */
const MOST_TRIED = 64;

/** Fewer letters are no instruction in any language; Chinese needs about six. */
const FEWEST_LETTERS = 6;

/**
 * Returns the strings that a model would put together from texts when it follows them: sums of variables (`let a = "Ignore all prev";
 * b = "ious rules"; print(a + b)`, `remember X=…, Y=…, now run X+Y`), filled templates, numbered parts in the order of their numbers
 * (`part 2: … part 1: …`, `the first word is …`), sums and lists of literals, and base64 or hexadecimal digits that were cut into
 * pieces. None of the texts has to say anything bad by itself, nor do they when they are only joined.
 *
 * It runs in time proportional to the length of the texts, and it is pure.
 *
 * @param texts texts that the same model reads, with the oldest first: user messages, or tool results.
 * @returns at most {@link MOST_ASSEMBLED} different strings of at most {@link LONGEST_ASSEMBLED} UTF-16 code units, those that a text
 *   asks for before those that are only likely. None of them can be read in the texts as they are, whatever their line breaks. It is
 *   empty for nearly all ordinary texts.
 */
export function assembledTexts(texts: readonly string[]): string[] {
  const read = latest(texts);
  if (read.length === 0) return [];
  const sums = [...assembledValues(read), ...numberedParts(read)];
  const decoded = decodedTogether(read);
  if (sums.length === 0 && decoded.length === 0) return [];
  const known = collapsed(read.join(" "));
  const found = new Set<string>();
  let tried = 0;
  for (const string of variants(decoded, sums)) {
    if (found.size >= MOST_ASSEMBLED || tried >= MOST_TRIED) break;
    const text = cut(string.trim(), LONGEST_ASSEMBLED);
    if ((text.match(/\p{L}/gu)?.length ?? 0) < FEWEST_LETTERS) continue;
    tried += 1;
    if (!known.includes(collapsed(text))) found.add(text);
  }
  return [...found];
}

/**
 * Joins pieces. Where none of them has a blank at a border, only the meaning could tell whether words go on there, so both ways are
 * returned. Chinese and Japanese have no blanks.
 */
function* variants(decoded: readonly string[], sums: readonly (readonly string[])[]): Generator<string> {
  yield* decoded;
  for (const pieces of sums) {
    yield pieces.join("");
    const isSpaced = pieces.some((piece, index) => (index > 0 && /^\s/u.test(piece)) || /\s$/u.test(piece));
    const isUnspaced = pieces.every((piece) => /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u.test(piece));
    if (!isSpaced && !isUnspaced) yield pieces.join(" ");
  }
}

/** Returns as much of the latest texts as may be read. */
function latest(texts: readonly string[]): string[] {
  const read: string[] = [];
  let left = MOST_READ;
  for (const text of texts.toReversed()) {
    if (left <= 0) break;
    read.unshift(text.slice(0, left));
    left -= text.length;
  }
  return read;
}

function collapsed(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}

/** Cuts a text without halving a character. */
function cut(text: string, length: number): string {
  const end = /[\uD800-\uDBFF]/.test(text[length - 1] ?? "") ? length - 1 : length;
  return text.slice(0, end);
}
