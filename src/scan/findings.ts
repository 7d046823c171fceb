import type { Finding, Verdict } from "./scanner.ts";

/**
 * The maximum number of findings of a verdict and of a check. A text of a megabyte may have half a million findings, which take seconds to
 * serialize and are too many to read. Edits are not limited.
 */
export const MAX_FINDINGS = 1000;

/** The maximum UTF-16 code units that the findings of one verdict quote together. Later findings have offsets without `text`. */
export const MAX_QUOTED_CHARS = 65_536;

/** The maximum UTF-16 code units of a label. Some labels contain a path in JSON, whose keys may have any length. */
const MAX_LABEL_CHARS = 1000;

/** Returns the first {@link MAX_FINDINGS} of a list, and the number of the others. */
export function limitFindings(findings: Finding[]): { findings: Finding[]; omitted: number } {
  if (findings.length <= MAX_FINDINGS) return { findings, omitted: 0 };
  return { findings: findings.slice(0, MAX_FINDINGS), omitted: findings.length - MAX_FINDINGS };
}

/** Returns a verdict with limited findings, quotes and labels. Its coverage counts the omitted findings. */
export function limitVerdict(verdict: Verdict): Verdict {
  if (verdict.findings.length === 0) return verdict;
  const { findings: reported, omitted } = limitFindings(verdict.findings);
  let quoted = 0;
  let isChanged = omitted > 0;
  const findings = reported.map((finding) => {
    const { text = "", label = "" } = finding;
    const isQuoted = quoted + text.length <= MAX_QUOTED_CHARS;
    if (isQuoted) quoted += text.length;
    if (isQuoted && label.length <= MAX_LABEL_CHARS) return finding;
    isChanged = true;
    const short: Finding = { ...finding };
    if (!isQuoted) delete short.text;
    if (label.length > MAX_LABEL_CHARS) short.label = `${label.slice(0, MAX_LABEL_CHARS - 1)}…`;
    return short;
  });
  if (!isChanged) return verdict;
  const findingsOmitted = (verdict.coverage.findingsOmitted ?? 0) + omitted;
  const coverage = findingsOmitted > 0 ? Object.assign({}, verdict.coverage, { findingsOmitted }) : verdict.coverage;
  return Object.assign({}, verdict, { findings, coverage });
}
