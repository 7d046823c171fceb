import { type Answer, mapAnswer, native, type RuleScan } from "../../native.ts";
import { type Verdict, wholeText } from "../../scanner.ts";
import { FAILED } from "../score.ts";

/** Rules of the addon: patterns or substrings. */
export interface Rules {
  scanner(): (text: string) => Answer<RuleScan | null>;
}

/**
 * Makes a function that applies rules to a text. Where all of the work is done at once it answers at once, which is several times
 * faster for short texts than a promise.
 *
 * @param verdict what is made of the matches; null stands for none.
 * @param isCostly whether the rules are kept off the event loop for short texts too.
 */
export function ruleCheck<Context>(
  rules: Rules,
  verdict: (text: string, scan: RuleScan | null, context: Context) => Verdict | Promise<Verdict>,
): (text: string, context: Context) => Verdict | Promise<Verdict> {
  const scan = rules.scanner();
  return (text, context) => {
    const found = native(() => scan(text));
    return mapAnswer(found, (scan) => verdict(text, scan, context));
  };
}

/**
 * The verdict on a text that failed because rules matched.
 *
 * @param type the type of the findings.
 * @param labels the names of the rules by their index.
 */
export function ruleVerdict(
  text: string,
  { matches, redacted }: RuleScan,
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
    coverage: wholeText(text),
  };
}
