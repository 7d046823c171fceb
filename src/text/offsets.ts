/** The unit of offsets and lengths: UTF-16 code units, as JavaScript counts, or Unicode code points, as Python counts. */
export type OffsetUnit = "utf16" | "codePoint";

/** A surrogate pair, which is one code point but two code units. */
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

/** Returns the length of a text in the given unit. */
export function lengthIn(unit: OffsetUnit, text: string): number {
  if (unit === "utf16" || !PAIR.test(text)) return text.length;
  return text.length - pairsIn(text, 0, text.length);
}

/** Counts the surrogate pairs of a part of a text. It reads code units, because iterating over characters takes ten times as long. */
function pairsIn(text: string, start: number, end: number): number {
  let pairs = 0;
  for (let at = start; at < end; at++) {
    if (!isHigh(text.charCodeAt(at)) || !isLow(text.charCodeAt(at + 1))) continue;
    pairs++;
    at++;
  }
  return pairs;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * Translates offsets in UTF-16 code units into offsets in code points: {0: 0, 3: 2} for the offsets 0 and 3 of "😀b". It takes one
 * pass over the text, however many offsets there are.
 */
export function codePointOffsets(text: string, offsets: readonly number[]): Map<number, number> {
  const translated = new Map<number, number>();
  let units = 0;
  let points = 0;
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    while (units < offset && units < text.length) {
      units += isHigh(text.charCodeAt(units)) && isLow(text.charCodeAt(units + 1)) ? 2 : 1;
      points++;
    }
    translated.set(offset, points);
  }
  return translated;
}
