import type { Verdict } from "./scanner.ts";

/** What offsets and lengths count: UTF-16 code units, as JavaScript does, or Unicode code points, as Python does. */
export type OffsetUnit = "utf16" | "codePoint";

/** A pair of surrogates: one code point in two code units. */
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

/** The length of a text. */
export function lengthIn(unit: OffsetUnit, text: string): number {
  if (unit === "utf16" || !PAIR.test(text)) return text.length;
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** A scanner's verdict on a text, which counts code units, with its offsets and lengths in another unit. */
export function inUnit(unit: OffsetUnit, text: string, verdict: Verdict): Verdict {
  if (unit === "utf16" || !PAIR.test(text)) return verdict;
  const toCodePoints = codePointOffsets(
    text,
    verdict.findings.flatMap(({ start, end }) => [start, end]),
  );
  const chars = lengthIn(unit, text);
  // How many code points the units make that were left out is not known: at most as many, so that is what counts as left out.
  const unscanned = verdict.coverage.chars - verdict.coverage.scannedChars;
  return {
    ...verdict,
    findings: verdict.findings.map((finding) => ({
      ...finding,
      start: toCodePoints.get(finding.start) ?? finding.start,
      end: toCodePoints.get(finding.end) ?? finding.end,
    })),
    coverage: { ...verdict.coverage, chars, scannedChars: Math.max(0, chars - unscanned) },
  };
}

/** Translates offsets of code units into those of code points, in one pass over the text, however many there are. */
export function codePointOffsets(text: string, offsets: readonly number[]): Map<number, number> {
  const translated = new Map<number, number>();
  let units = 0;
  let points = 0;
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    while (units < offset && units < text.length) {
      units += (text.codePointAt(units) as number) > 0xffff ? 2 : 1;
      points++;
    }
    translated.set(offset, points);
  }
  return translated;
}
