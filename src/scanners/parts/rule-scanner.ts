import { type Answer, mapAnswer, native, type RuleScan } from "../../native.ts";
import { type Verdict, wholeText } from "../../scanner.ts";
import { mapRows } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import { FAILED } from "../score.ts";

/** How many numbers a row of `RuleScan.rest` has. */
const REST = 4;

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
    const found = native(() => scan(text), context.signal);
    return mapAnswer(found, (scan) => verdict(text, scan, context));
  };
}

/**
 * Returns the verdict on a text that failed because rules matched.
 *
 * @param type the type of the findings.
 * @param labels the names of the rules, by the index of each rule.
 */
export function ruleVerdict(
  text: string,
  { matches, rest, redacted }: RuleScan,
  type: string,
  labels: readonly string[],
): Verdict {
  return {
    isValid: false,
    score: FAILED,
    ...(redacted == null ? {} : { sanitized: redacted }),
    findings: matches.map(({ start, end, rule, view }) => ({
      start,
      end,
      type,
      text: text.slice(start, end),
      score: 1,
      label: labels[rule] as string,
      ...(view == null ? {} : { view }),
    })),
    coverage: wholeText(text, 1, (rest?.length ?? 0) / REST),
  };
}

/** Returns the rules of which a text has at least one match. */
export function matchedRules({ matches, rest }: RuleScan): Set<number> {
  const rules = new Set(matches.map(({ rule }) => rule));
  if (rest) for (const rule of mapRows(rest, REST, (column) => column(2))) rules.add(rule);
  return rules;
}

/** A match: where it is, and whether only a view of the text has it. */
export interface MatchPlace extends Span {
  rule: number;
  isDisguised: boolean;
}

/** Returns all matches, also those that are too many to be told. */
export function allMatches({ matches, rest }: RuleScan): MatchPlace[] {
  const first = matches.map(({ start, end, rule, view }) => ({ start, end, rule, isDisguised: view != null }));
  if (!rest) return first;
  const others = mapRows(rest, REST, (column) => ({
    ...{ start: column(0), end: column(1), rule: column(2), isDisguised: column(3) > 0 },
  }));
  return [...first, ...others];
}
