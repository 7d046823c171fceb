import type { RuleScan } from "../../native.ts";
import { type Verdict, wholeText } from "../../scanner.ts";
import { FAILED } from "../../score.ts";

/** The verdict on a text that failed because rules matched; `labels` names the rules by their index. */
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
