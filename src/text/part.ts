import type { Span } from "./span.ts";

/**
 * Tells whether two values are the start and the end of a part of a text: whole numbers within it, in their order, and neither of them
 * between the two halves of a surrogate pair, where a cut would leave half a character.
 */
export function isPart(text: string, { start, end }: { [Key in keyof Span]: unknown }): boolean {
  return (
    Number.isInteger(start) &&
    Number.isInteger(end) &&
    isWithin(start, 0, end as number) &&
    isWithin(end, 0, text.length) &&
    isBorder(text, start as number) &&
    isBorder(text, end as number)
  );
}

/** Tells whether a value is a number from `low` to `high`. NaN is none, nor is a text or `null` that could be read as one. */
export function isWithin(value: unknown, low: number, high: number): boolean {
  return typeof value === "number" && value >= low && value <= high;
}

function isBorder(text: string, offset: number): boolean {
  if (offset === 0 || offset === text.length) return true;
  return !(isOf(text.charCodeAt(offset - 1), 0xd8) && isOf(text.charCodeAt(offset), 0xdc));
}

/** Tells whether a code unit is one of the 1,024 surrogates that begin with a byte: D800 to DBFF are high, DC00 to DFFF are low. */
function isOf(unit: number, first: 0xd8 | 0xdc): boolean {
  return unit >> 10 === first >> 2;
}
