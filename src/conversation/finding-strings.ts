import type { CheckResult, ScanResult } from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import type { Finding } from "../scan/scanner.ts";
import { codePointOffsets, type OffsetUnit } from "../text/offsets.ts";

/** Findings across more strings are not narrowed. */
const MAX_STRINGS = 64;

/**
 * Replaces findings across several strings by findings in the strings that fail alone. A model that judges a window of a JSON result
 * reports only that the window contains an attack. Judging its strings one by one locates the attack. Verdicts do not change, and a
 * finding stays if no string fails alone.
 *
 * @param result the checks of the text, whose findings have paths.
 * @param scanString scans one string of the text with one scanner.
 */
export async function narrowFindings(
  result: ScanResult,
  text: MessageText,
  { scanners, unit }: { scanners: readonly NamedScanner[]; unit: OffsetUnit },
  scanString: (item: NamedScanner, string: MessageText) => Promise<ScanResult>,
): Promise<void> {
  if (text.pieces.length < 2 || result.checks.every(({ isValid }) => isValid)) return;
  const strings = piecesIn(text, unit);
  for (const check of result.checks) {
    const item = scanners.find(({ name }) => name === check.scanner);
    if (!item || check.isValid || item.scanner.sanitizes || item.scanner.conversation?.dependsOnOthers) continue;
    check.findings = await narrowCheckFindings(check, text, strings, (string) => scanString(item, string));
  }
}

async function narrowCheckFindings(
  { findings }: CheckResult,
  text: MessageText,
  strings: readonly { start: number; end: number }[],
  scanString: (string: MessageText) => Promise<ScanResult>,
): Promise<Finding[]> {
  const failing = async (indexes: readonly number[]): Promise<Finding[]> => {
    const results = await Promise.all(indexes.map((index) => scanString(stringOf(text, index))));
    return results.flatMap(({ checks }) => checks.flatMap((check) => (check.isValid ? [] : check.findings)));
  };
  const result: Finding[] = [];
  for (const finding of findings) {
    // A finding within one string has the path of the string.
    const spanned =
      finding.path === text.path
        ? strings.flatMap(({ start, end }, index) => (start < finding.end && end > finding.start ? [index] : []))
        : [];
    const isWide = spanned.length > 1 && spanned.length <= MAX_STRINGS;
    const inStrings = isWide ? await failing(spanned) : [];
    result.push(...(inStrings.length > 0 ? inStrings : [finding]));
  }
  return result;
}

/** Returns the spans of the strings of a text, in the unit of its findings. */
function piecesIn({ text, pieces }: MessageText, unit: OffsetUnit): readonly { start: number; end: number }[] {
  if (unit === "utf16") return pieces;
  const points = codePointOffsets(
    text,
    pieces.flatMap(({ start, end }) => [start, end]),
  );
  return pieces.map(({ start, end }) => ({ start: points.get(start) ?? start, end: points.get(end) ?? end }));
}

/** Returns one string of a text as a text of its own. */
function stringOf(text: MessageText, index: number): MessageText {
  const { start = 0, end = 0, path = text.path } = text.pieces[index] ?? {};
  const string = text.text.slice(start, end);
  return { ...text, path, text: string, pieces: [{ start: 0, end: string.length, path }], skipped: 0 };
}
