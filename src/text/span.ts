import { firstIndexWhere } from "../support/binary-search.ts";

/** A half-open range of a text, in UTF-16 code units: it covers `text.slice(start, end)`. */
export interface Span {
  start: number;
  end: number;
}

/** Returns a function that tells whether a span overlaps any of the given spans. */
export function overlapTest(spans: readonly Span[]): (span: Span) => boolean {
  const ordered = mergeSpans(spans);
  return ({ start, end }) => {
    const next = ordered[firstIndexWhere(ordered, (span) => span.end > start)];
    return next !== undefined && next.start < end;
  };
}

/** Returns spans in ascending order, with overlapping spans joined. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}

/**
 * Whether two values are the start and the end of a span of a text: whole numbers within it, in order, and neither of them inside a
 * surrogate pair, where a cut would leave half a character.
 */
export function isSpanOf(text: string, { start, end }: { [Key in keyof Span]: unknown }): boolean {
  return (
    Number.isInteger(start) &&
    Number.isInteger(end) &&
    isNumberIn(start, 0, end as number) &&
    isNumberIn(end, 0, text.length) &&
    isCodePointBoundary(text, start as number) &&
    isCodePointBoundary(text, end as number)
  );
}

/** Whether a value is a number from `low` to `high`. NaN is not, and neither are strings or `null`, which would be coerced. */
export function isNumberIn(value: unknown, low: number, high: number): boolean {
  return typeof value === "number" && value >= low && value <= high;
}

function isCodePointBoundary(text: string, offset: number): boolean {
  if (offset === 0 || offset === text.length) return true;
  return !(isSurrogate(text.charCodeAt(offset - 1), 0xd8) && isSurrogate(text.charCodeAt(offset), 0xdc));
}

/** Whether a code unit is a high surrogate (`0xd8`, D800 to DBFF) or a low one (`0xdc`, DC00 to DFFF). */
function isSurrogate(unit: number, firstByte: 0xd8 | 0xdc): boolean {
  return unit >> 10 === firstByte >> 2;
}
