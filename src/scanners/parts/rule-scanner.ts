import { type Answer, mapAnswer, native, type RuleScan } from "../../native.ts";
import { MOST_FINDINGS } from "../../scan/findings.ts";
import { type Finding, type Verdict, wholeText } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { mapRows } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";

/** How many numbers a row of `RuleScan.matches` has. */
const WIDTH = 4;

/** Rules of the addon, such as patterns or substrings. */
export interface Rules {
  scanner(): (text: string) => Answer<RuleScan | null>;
}

/**
 * Makes a function that applies rules to a text. When all of the work is done at once, the function returns the verdict at once,
 * which for short texts is several times faster than a promise.
 *
 * @param verdict makes a verdict from the matches; null means that nothing matched.
 */
export function ruleCheck<Context extends { signal?: AbortSignal | undefined }>(
  rules: Rules,
  verdict: (text: string, scan: RuleScan | null, context: Context) => Verdict | Promise<Verdict>,
): (text: string, context: Context) => Verdict | Promise<Verdict> {
  const scan = rules.scanner();
  return (text, context) => {
    const found = native(() => scan(text), context);
    return mapAnswer(found, (scan) => verdict(text, scan, context));
  };
}

/**
 * Returns the verdict on a text that failed because rules matched.
 *
 * @param type the type of the findings.
 * @param labels the names of the rules, by the index of each rule.
 */
export function ruleVerdict(text: string, scan: RuleScan, type: string, labels: readonly string[]): Verdict {
  const told = matchesOf(scan, MOST_FINDINGS);
  return failedBy(text, told, { count: scan.matches.length / WIDTH, redacted: scan.redacted, type, labels });
}

/**
 * Does the same as {@link ruleVerdict} for matches of which some do not count.
 *
 * @param told the matches of which there are findings.
 * @param options.count the number of all matches that count.
 */
export function failedBy(
  text: string,
  told: readonly RuleMatch[],
  options: { count: number; redacted: string | undefined; type: string; labels: readonly string[] },
): Verdict {
  const { count, redacted, type, labels } = options;
  return {
    isValid: false,
    score: FAILED,
    ...(redacted == null ? {} : { sanitized: redacted }),
    findings: told.map((match) => findingOf(text, match, type, labels[match.rule] as string)),
    coverage: wholeText(text, 1, count - told.length),
  };
}

/** Makes the finding of a match. */
export function findingOf(text: string, { start, end, view }: RuleMatch, type: string, label: string): Finding {
  return { start, end, type, text: text.slice(start, end), score: 1, label, ...(view === undefined ? {} : { view }) };
}

/** Returns the rules of which a text has at least one match. */
export function matchedRules({ matches }: RuleScan): Set<number> {
  return new Set(mapRows(matches, WIDTH, (column) => column(2)));
}

/** A match: where it is, its rule, and the view of the text that it was found in, unless the text has it as it is written. */
export interface RuleMatch extends Span {
  rule: number;
  view?: string | undefined;
}

/** Returns the matches, in the order of the addon, at most so many of them. */
export function matchesOf({ matches, views }: RuleScan, most?: number): RuleMatch[] {
  const match = (column: (index: number) => number): RuleMatch => ({
    ...{ start: column(0), end: column(1), rule: column(2), view: views?.[column(3)] },
  });
  return mapRows(matches, WIDTH, match, most);
}
