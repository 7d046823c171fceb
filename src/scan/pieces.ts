import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { MessageText } from "./conversation-text.ts";
import type { Finding } from "./scanner.ts";

/** A string within a text, with offsets in some unit. */
interface Range {
  start: number;
  end: number;
  path: string;
}

/**
 * Says of findings in which message and string they are. The offsets of a finding within one string become offsets in that string.
 *
 * @param given the text that the scanner was given: that of `text`, or what scanners before it have made of that.
 * @param findings have offsets in `given`, counted in `unit`.
 */
export function placed(
  findings: readonly Finding[],
  given: string,
  text: MessageText,
  unit: OffsetUnit = "utf16",
): Finding[] {
  if (findings.length === 0) return [];
  const { message, path } = text;
  const place = message === undefined ? {} : { message };
  const ranges = rangesIn(given, text, unit);
  return findings.map((finding) => {
    const range = lastBefore(ranges, finding.start);
    if (!range || finding.end > range.end) return { ...finding, ...place, path };
    const { start, end } = finding;
    return { ...finding, start: start - range.start, end: end - range.start, ...place, path: range.path };
  });
}

/** The last of the ranges, which are in order, that begins at an offset or before it. */
function lastBefore(ranges: readonly Range[], offset: number): Range | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle] as Range).start <= offset) low = middle + 1;
    else high = middle;
  }
  return ranges[low - 1];
}

/** Where the strings of a text are in what scanners have made of it. The list is empty where that cannot be told. */
export function rangesIn(given: string, text: MessageText, unit: OffsetUnit): Range[] {
  const strings =
    given === text.text ? text.pieces.map(({ start, end }) => given.slice(start, end)) : divided(given, text);
  if (!strings) return [];
  let start = 0;
  return strings.map((string, index) => {
    const end = start + lengthIn(unit, string);
    const range = { start, end, path: text.pieces[index]?.path ?? text.path };
    // A line break stands between two strings.
    start = end + 1;
    return range;
  });
}

/**
 * Divides a rewritten text into the strings of the text that it was made from. A string keeps its number of lines in nearly every
 * rewriting, so the lines tell where the strings end.
 *
 * @returns undefined when the number of lines has changed, so that nothing tells where they end.
 */
export function divided(rewritten: string, { text, pieces }: MessageText): string[] | undefined {
  if (pieces.length <= 1) return pieces.map(() => rewritten);
  const lines = rewritten.split("\n");
  const counts = pieces.map(({ start, end }) => text.slice(start, end).split("\n").length);
  if (counts.reduce((sum, count) => sum + count, 0) !== lines.length) return undefined;
  let line = 0;
  return counts.map((count) => {
    const from = line;
    line += count;
    return lines.slice(from, line).join("\n");
  });
}
