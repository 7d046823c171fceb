import type { MessageText } from "../scan/conversation-text.ts";
import { rangesIn } from "../scan/pieces.ts";
import type { NamedScanner, ScanReport } from "../scan/scan.ts";
import type { Finding } from "../scan/scanner.ts";
import type { OffsetUnit } from "../text/offsets.ts";

/** More strings than this are not asked about one by one. */
const MOST_STRINGS = 64;

/**
 * Names the strings that are at fault where a finding spans several ones. A model that judges a window of a JSON result says only that
 * something in it is an attack; its strings by themselves tell which one. The verdict stays as it is, and so does a finding none of
 * whose strings fails by itself.
 *
 * @param report the results for the text, whose findings say where they are.
 * @param ask scans one string of the text with one scanner.
 */
export async function narrowed<Report extends ScanReport>(
  report: Report,
  text: MessageText,
  { items, suffix, unit }: { items: readonly NamedScanner[]; suffix: string; unit: OffsetUnit },
  ask: (item: NamedScanner, string: MessageText) => Promise<ScanReport>,
): Promise<Report> {
  if (report.isValid || text.pieces.length < 2) return report;
  const ranges = rangesIn(text.text, text, unit);
  const findings = { ...report.findings };
  for (const item of items) {
    const name = item.name + suffix;
    if (report.resultsValid[name] !== false || item.scanner.sanitizes || item.scanner.conversation?.dependsOnOthers)
      continue;
    const found: Finding[] = [];
    for (const finding of report.findings[name] ?? []) {
      // A finding in what was decoded from the text has its own place, and one within a string needs no other.
      const within =
        finding.path === text.path
          ? ranges.flatMap(({ start, end }, index) => (start < finding.end && end > finding.start ? [index] : []))
          : [];
      const isWide = within.length > 1 && within.length <= MOST_STRINGS;
      const inStrings = isWide ? await failing(within) : [];
      found.push(...(inStrings.length > 0 ? inStrings : [finding]));
    }
    findings[name] = found;

    async function failing(indexes: readonly number[]): Promise<Finding[]> {
      const reports = await Promise.all(indexes.map((index) => ask(item, stringOf(text, index))));
      return reports.flatMap(({ isValid, findings }) => (isValid ? [] : (findings[name] ?? [])));
    }
  }
  return { ...report, findings };
}

/** One string of a text as a text of its own. */
function stringOf(text: MessageText, index: number): MessageText {
  const { start = 0, end = 0, path = text.path } = text.pieces[index] ?? {};
  const string = text.text.slice(start, end);
  return { ...text, path, text: string, pieces: [{ start: 0, end: string.length, path }], skipped: 0 };
}
