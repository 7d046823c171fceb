import { codePointOffsets, lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { Verdict } from "./scanner.ts";

/** Converts the offsets and lengths of a verdict from UTF-16 code units to another unit. */
export function verdictInUnit(unit: OffsetUnit, text: string, verdict: Verdict): Verdict {
  const chars = lengthIn(unit, text);
  if (chars === text.length) return verdict;
  const toCodePoints = codePointOffsets(
    text,
    verdict.findings.flatMap(({ start, end }) => [start, end]),
  );
  // The verdict does not say which code units were left out. They make up at most as many code points, so their number is kept as
  // it is, which never claims too much coverage.
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
