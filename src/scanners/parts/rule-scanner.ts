import { type Answer, native, type RuleScan } from "../../native.ts";
import { MAX_FINDINGS } from "../../scan/findings.ts";
import { type Finding, type Verdict, wholeText } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { mapRows } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import { redactable, redactions, withEdits } from "./redaction.ts";

/** How many numbers a row of `RuleScan.matches` has. */
const WIDTH = 4;

/** Rules of the addon, such as patterns or substrings. */
export interface Rules {
  scanner(): (text: string) => Answer<RuleScan | null>;
}

/**
 * Creates a function that applies rules to a text.
 *
 * @param verdict returns the verdict from the matches. Null means that nothing matched.
 */
export function ruleCheck<Context extends { signal?: AbortSignal | undefined }>(
  rules: Rules,
  verdict: (text: string, scan: RuleScan | null, context: Context) => Verdict | Promise<Verdict>,
): (text: string, context: Context) => Promise<Verdict> {
  const scan = rules.scanner();
  return async (text, context) => verdict(text, await native(() => scan(text), context), context);
}

/** How a verdict reports the matches of rules. */
export interface RuleReport {
  /** The type of the findings. */
  type: string;
  /** The names of the rules, by the index of each rule. */
  labels: readonly string[];
  /** Whether the verdict replaces the matches by `[REDACTED]`. */
  redacts: boolean;
}

/** Returns the verdict on a text that failed because rules matched. */
export function ruleVerdict(text: string, scan: RuleScan, report: RuleReport): Verdict {
  const matches = matchesOf(scan, report.redacts ? undefined : MAX_FINDINGS);
  return matchVerdict(text, matches, report, scan.matches.length / WIDTH);
}

/**
 * Returns the verdict on a text that failed because of these matches.
 *
 * @param count how many matches there are, if `matches` has only the first ones.
 */
export function matchVerdict(
  text: string,
  matches: readonly RuleMatch[],
  { type, labels, redacts }: RuleReport,
  count = matches.length,
): Verdict {
  const findings = matches
    .slice(0, MAX_FINDINGS)
    .map((match) => findingOf(text, match, type, labels[match.rule] as string));
  return {
    isValid: false,
    score: FAILED,
    ...withEdits(redacts ? redactions(redactable(text, matches)) : []),
    findings,
    coverage: wholeText(text, 1, count - findings.length),
  };
}

/** Returns the finding of a match. */
export function findingOf(text: string, { start, end, view }: RuleMatch, type: string, label: string): Finding {
  return { start, end, type, text: text.slice(start, end), score: 1, label, ...(view === undefined ? {} : { view }) };
}

/** Returns the rules with at least one match. */
export function matchedRules({ matches }: RuleScan): Set<number> {
  return new Set(mapRows(matches, WIDTH, (column) => column(2)));
}

/** A match of a rule. `view` is the view that contains it, unless the text itself does. */
export interface RuleMatch extends Span {
  rule: number;
  view?: string | undefined;
}

/** Returns the first `most` matches, in the order of the addon. */
export function matchesOf({ matches, views }: RuleScan, most?: number): RuleMatch[] {
  const match = (column: (index: number) => number): RuleMatch => ({
    ...{ start: column(0), end: column(1), rule: column(2), view: views?.[column(3)] },
  });
  return mapRows(matches, WIDTH, match, most);
}
