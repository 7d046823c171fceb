import type { Finding, Verdict } from "./scanner.ts";

/**
 * The most findings that a scanner tells of a text, and that a report tells of a scanner. A person reads no more, and a text of a
 * megabyte may have half a million, which take seconds to hand on. What is replaced or taken out is never limited.
 */
export const MOST_FINDINGS = 1000;

/** The most UTF-16 code units that the findings of one scanner quote together. Findings behind that say where they are, without `text`. */
export const MOST_QUOTED = 65_536;

/** The most UTF-16 code units of a label: some labels name a place in JSON, whose keys may be of any length. */
const LONGEST_LABEL = 1000;

/** Returns a verdict whose findings are no more and no longer than is told, with the number of those that are left out. */
export function bounded(verdict: Verdict): Verdict {
  const { findings, coverage } = verdict;
  if (findings.length === 0) return verdict;
  const told = findings.length > MOST_FINDINGS ? findings.slice(0, MOST_FINDINGS) : findings;
  let quoted = 0;
  let isShort = told === findings;
  const shortened = told.map((finding) => {
    const { text = "", label = "" } = finding;
    const isQuoted = quoted + text.length <= MOST_QUOTED;
    if (isQuoted) quoted += text.length;
    if (isQuoted && label.length <= LONGEST_LABEL) return finding;
    isShort = false;
    const short: Finding = { ...finding };
    if (!isQuoted) delete short.text;
    if (label.length > LONGEST_LABEL) short.label = `${label.slice(0, LONGEST_LABEL - 1)}…`;
    return short;
  });
  if (isShort) return verdict;
  const findingsOmitted = (coverage.findingsOmitted ?? 0) + findings.length - told.length;
  return {
    ...verdict,
    findings: shortened,
    coverage: findingsOmitted > 0 ? { ...coverage, findingsOmitted } : coverage,
  };
}

/** The lists of findings by scanner, and how many are left out. */
interface Told {
  findings: Record<string, Finding[]>;
  coverage: { findingsOmitted: Record<string, number> };
}

/** Adds findings to those of a scanner in a report, which tells no more than {@link MOST_FINDINGS} of them and counts the others. */
export function addFindings({ findings, coverage }: Told, name: string, found: readonly Finding[]): void {
  const known = findings[name] ?? [];
  const added = found.slice(0, Math.max(0, MOST_FINDINGS - known.length));
  findings[name] = added.length > 0 ? [...known, ...added] : known;
  addOmitted(coverage.findingsOmitted, name, found.length - added.length);
}

/** Counts findings of a scanner that are left out. */
export function addOmitted(omitted: Record<string, number>, name: string, count: number): void {
  if (count > 0) omitted[name] = (omitted[name] ?? 0) + count;
}
