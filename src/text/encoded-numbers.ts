import type { Abortable } from "../native.ts";
import { TimeSlice } from "../support/time-slice.ts";
import type { Span } from "./span.ts";

/** The letters and digits that the numbers of a text encode. */
export interface DecodedNumbers {
  /** The notation of the numbers: `decimal`, `hex`, `octal`, `binary`, or `base64` for runs that encode several characters. */
  view: string;
  /** The decoded ASCII letters and digits, in the order of the text. */
  text: string;
  /** Maps a span of the decoded text to the span of the original that it was decoded from. */
  locate(span: Span): Span;
}

/** The notations of numbers, and the codes that a number encodes. Every pattern takes linear time. */
const NOTATIONS: { view: string; pattern: RegExp; codes: (digits: string) => Iterable<number> }[] = [
  { view: "decimal", pattern: /(?<!\d)\d{2,4}(?!\d)/g, codes: (digits) => [Number(digits)] },
  // Also U+0043, \u0043, 0x43 and %43: a code point of ASCII is its byte, with zeros before it.
  {
    view: "hex",
    pattern: /\d[\da-f]+/gi,
    codes: (digits) => Buffer.from(digits.length % 2 ? `0${digits}` : digits, "hex"),
  },
  { view: "octal", pattern: /(?<!\d)[0-7]{2,4}(?!\d)/g, codes: (digits) => [Number.parseInt(digits, 8)] },
  { view: "binary", pattern: /(?<!\d)[01]{7,}(?!\d)/g, codes: bits },
  { view: "base64", pattern: /[\w+/-]{12,}/g, codes: (digits) => Buffer.from(digits, "base64url") },
];

/**
 * Decodes the numbers of a text as ASCII codes of letters and digits, once for each notation of code points and bytes. Other codes are
 * left out, and so is everything between the numbers: `chr(67) + chr(97)` decodes to `Ca`. Any text with numbers decodes to some letters,
 * so use this only to search for a value that cannot occur by chance. The time is linear.
 *
 * @param minimum results with fewer characters are left out.
 */
export async function decodeNumbers(
  text: string,
  minimum: number,
  { signal }: Abortable = {},
): Promise<DecodedNumbers[]> {
  const slice = new TimeSlice(signal);
  const results: DecodedNumbers[] = [];
  for (const { view, pattern, codes } of NOTATIONS) {
    let decoded = "";
    const sources: Span[] = [];
    for (const { 0: digits, index } of text.matchAll(pattern)) {
      if (slice.isOver) await slice.next();
      for (const code of codes(digits)) {
        if (slice.isOver) await slice.next();
        if (!isAlphanumeric(code)) continue;
        decoded += String.fromCharCode(code);
        sources.push({ start: index, end: index + digits.length });
      }
    }
    if (decoded.length < minimum) continue;
    const locate = ({ start, end }: Span) => ({ start: sources[start]?.start ?? 0, end: sources[end - 1]?.end ?? 0 });
    results.push({ view, text: decoded, locate });
  }
  return results;
}

/** Returns the bytes, or the characters of 7 bits, of binary digits. */
function bits(digits: string): number[] {
  const size = digits.length % 8 === 0 ? 8 : 7;
  const codes: number[] = [];
  for (let at = 0; at + size <= digits.length; at += size) {
    codes.push(Number.parseInt(digits.slice(at, at + size), 2));
  }
  return codes;
}

function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
