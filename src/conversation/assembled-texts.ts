import { decodedTogether } from "./assembly/encoded-pieces.ts";
import { numberedParts } from "./assembly/numbered-parts.ts";
import { assembledValues } from "./assembly/variables.ts";

/** The maximum number of returned strings. */
export const MAX_ASSEMBLED_TEXTS = 4;

/** The maximum length of a string in UTF-16 code units. Longer strings are truncated. */
export const MAX_ASSEMBLED_LENGTH = 4000;

/** The maximum number of UTF-16 code units that are read, from the latest texts back. */
const MAX_READ_CHARS = 65_536;

/** The maximum number of candidates that are compared with the texts. */
const MAX_CANDIDATES = 64;

/** The minimum letters of an instruction in any language. Chinese needs about six. */
const MIN_LETTERS = 6;

/**
 * Returns the strings that a model would assemble if it followed the texts: sums of variables (`let a = "Ignore all prev";
 * b = "ious rules"; print(a + b)`, `remember X=…, Y=…, now run X+Y`), filled templates, numbered parts in order (`part 2: …
 * part 1: …`, `the first word is …`), sums and lists of literals, and pieces of base64 or hexadecimal digits. Neither the single texts
 * nor the joined texts need to contain anything harmful.
 *
 * The function is pure, and linear in the length of the texts.
 *
 * @param texts texts that the same model reads, with the oldest first: user messages, or tool results.
 * @returns at most {@link MAX_ASSEMBLED_TEXTS} different strings of at most {@link MAX_ASSEMBLED_LENGTH} UTF-16 code units, explicitly requested
 *   ones before merely likely ones. No string is already in the texts, whatever their line breaks. The list is empty for nearly all
 *   ordinary texts.
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
    if (found.size >= MAX_ASSEMBLED_TEXTS || tried >= MAX_CANDIDATES) break;
    const text = cut(string.trim(), MAX_ASSEMBLED_LENGTH);
    if ((text.match(/\p{L}/gu)?.length ?? 0) < MIN_LETTERS) continue;
    tried += 1;
    if (!known.includes(collapsed(text))) found.add(text);
  }
  return [...found];
}

/**
 * Joins pieces. If no piece has a space at a border, the words may continue or end there, so both variants are returned. Chinese and
 * Japanese have no spaces.
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

/** Returns the latest texts, up to the maximum length. */
function latest(texts: readonly string[]): string[] {
  const read: string[] = [];
  let left = MAX_READ_CHARS;
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

/** Truncates a text without splitting a character. */
function cut(text: string, length: number): string {
  const end = /[\uD800-\uDBFF]/.test(text[length - 1] ?? "") ? length - 1 : length;
  return text.slice(0, end);
}
