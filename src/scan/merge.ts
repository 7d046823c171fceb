import type { Turns } from "../support/turns.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { MessageText } from "./conversation-text.ts";
import { addFindings, addOmitted } from "./findings.ts";
import { addUnchanged, emptyReport, type ScanReport } from "./scan.ts";
import { FAILED } from "./score.ts";
import type { Source } from "./source.ts";

/** Adds the results from another part of the conversation to a report. */
export function merge(to: ScanReport, from: ScanReport): void {
  to.isValid &&= from.isValid;
  Object.assign(to.resultsValid, from.resultsValid);
  Object.assign(to.resultsScore, from.resultsScore);
  Object.assign(to.probabilities, from.probabilities);
  Object.assign(to.findings, from.findings);
  Object.assign(to.timing, from.timing);
  addUnchanged(to, from.unchanged);
  addCoverage(to, from);
}

/**
 * Puts the results of several texts together: for each scanner, the worst score and the findings of all texts. The findings are in the order of
 * the texts, and say in which text they are.
 */
export function worst(reports: readonly ScanReport[]): ScanReport {
  const [first, ...others] = reports;
  if (!first) return emptyReport();
  if (others.length === 0) return first;
  const total = emptyReport();
  for (const report of reports) addWorst(total, report);
  return total;
}

/** Does what {@link worst} does with the reports on thousands of texts, and lets the event loop go on meanwhile. */
export async function worstInTurns(reports: readonly ScanReport[], turns: Turns): Promise<ScanReport> {
  const [first, ...others] = reports;
  if (first && others.length === 0) return first;
  const total = emptyReport();
  for (const report of reports) {
    if (turns.isOver) await turns.next();
    addWorst(total, report);
  }
  return total;
}

function addWorst(total: ScanReport, report: ScanReport): void {
  total.isValid &&= report.isValid;
  for (const [name, score] of Object.entries(report.resultsScore)) {
    const known = total.resultsScore[name];
    const before = total.findings[name] ?? [];
    const timing = Math.max(total.timing[name] ?? 0, report.timing[name] ?? 0);
    if (known === undefined || score > known) copyResult(total, name, report, name);
    total.findings[name] = before;
    addFindings(total, name, report.findings[name] ?? []);
    total.timing[name] = timing;
  }
  addUnchanged(total, report.unchanged);
  addCoverage(total, report);
}

/** Copies one result from a report into another one, under another name. */
export function copyResult(to: ScanReport, name: string, from: ScanReport, source: string): void {
  const isValid = from.resultsValid[source] ?? false;
  to.isValid &&= isValid;
  to.resultsValid[name] = isValid;
  to.resultsScore[name] = from.resultsScore[source] ?? FAILED;
  const probability = from.probabilities[source];
  if (probability === undefined) delete to.probabilities[name];
  else to.probabilities[name] = probability;
  to.findings[name] = from.findings[source] ?? [];
  to.timing[name] = 0;
  if (name !== source) addOmitted(to.coverage.findingsOmitted, name, from.coverage.findingsOmitted[source] ?? 0);
  if (from.coverage.failed.includes(source)) to.coverage.failed.push(name);
  if (from.unchanged?.includes(source)) addUnchanged(to, [name]);
}

/** Returns a report with the results of some names only. A scanner that failed counts in any case. */
export function onlyNames(names: ReadonlySet<string>, report: ScanReport): ScanReport {
  if (Object.keys(report.resultsValid).every((name) => names.has(name)) && report.coverage.suppressed.length === 0) {
    return report;
  }
  const failed = new Set(report.coverage.failed);
  const isCounted = (name: string) => names.has(name) || failed.has(name);
  const counted = <Value>(record: Record<string, Value>): Record<string, Value> =>
    Object.fromEntries(Object.entries(record).filter(([name]) => isCounted(name)));
  const resultsValid = counted(report.resultsValid);
  return {
    ...report,
    isValid: Object.values(resultsValid).every(Boolean),
    resultsValid,
    resultsScore: counted(report.resultsScore),
    probabilities: counted(report.probabilities),
    findings: counted(report.findings),
    timing: counted(report.timing),
    ...(report.unchanged ? { unchanged: report.unchanged.filter(isCounted) } : {}),
    coverage: {
      ...report.coverage,
      suppressed: report.coverage.suppressed.filter((name) => names.has(name)),
      findingsOmitted: counted(report.coverage.findingsOmitted),
    },
  };
}

/** Adds texts that nobody looked at to the coverage. */
export function addUnread(
  { coverage }: ScanReport,
  texts: readonly Pick<MessageText, "source" | "text">[],
  unit: OffsetUnit,
): void {
  for (const { source, text } of texts) {
    if (text === "") continue;
    const length = lengthIn(unit, text);
    coverage.chars += length;
    coverage.unscannedSources[source] = (coverage.unscannedSources[source] ?? 0) + length;
  }
}

/** Adds what was looked at of a text to what was looked at of others. */
export function addCoverage(
  { coverage: to }: Pick<ScanReport, "coverage">,
  { coverage: from }: Pick<ScanReport, "coverage">,
): void {
  to.chars += from.chars;
  to.scannedChars += from.scannedChars;
  to.truncated ||= from.truncated;
  to.windows = Math.max(to.windows, from.windows);
  to.partsSkipped += from.partsSkipped;
  for (const [source, chars = 0] of Object.entries(from.unscannedSources) as [Source, number?][]) {
    to.unscannedSources[source] = (to.unscannedSources[source] ?? 0) + chars;
  }
  if (from.suppressed.length > 0) to.suppressed = [...new Set([...to.suppressed, ...from.suppressed])];
  if (from.failed.length > 0) to.failed = [...new Set([...to.failed, ...from.failed])];
  for (const [name, count] of Object.entries(from.findingsOmitted)) addOmitted(to.findingsOmitted, name, count);
  for (const [name, languages] of Object.entries(from.untrainedLanguage)) {
    to.untrainedLanguage[name] = [...new Set([...(to.untrainedLanguage[name] ?? []), ...languages])].sort();
  }
}

/**
 * The report on a text that was put together from others. Its findings say so in `view`, with offsets in the text that was put together,
 * and its length does not count: nobody has written it.
 */
export function asAssembled(report: ScanReport): ScanReport {
  const findings = Object.entries(report.findings).map(([name, found]) => [
    name,
    found.map((finding) => ({ ...finding, view: ["assembled", ...(finding.view ? [finding.view] : [])].join(">") })),
  ]);
  return {
    ...report,
    findings: Object.fromEntries(findings),
    coverage: { ...report.coverage, chars: 0, scannedChars: 0 },
  };
}
