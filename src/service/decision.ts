import type { NamedScanner } from "../scan/named-scanners.ts";
import { type Outcome, outcomeOf, removesFindings, replacesValues } from "../scan/outcome.ts";
import type { ScanReport } from "../scan/report.ts";
import type { Side } from "../scan/scanner.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";

/** The settings of decisions. */
export interface DecisionPolicy {
  /** The scanners by side. */
  scanners: Readonly<Record<Side, readonly NamedScanner[]>>;
  /** The names or types of scanners that remove their findings from the text, so that the findings need not block it. */
  masking: ReadonlySet<string>;
  failFast: boolean;
  requireFullCoverage: boolean;
  /** Whether to refuse requests whose model reads texts from elsewhere; see `coverage.stateElsewhere`. */
  stateful: "allow" | "refuse";
}

/** Whether a text is valid, and what happens to it. */
export interface Decision {
  isValid: boolean;
  outcome: Outcome;
}

/**
 * Decides about a text, a conversation or an answer. It is the only place for this decision.
 *
 * @param side the side of the scanners that judged it. Input scanners judge the texts of a conversation.
 */
export function decide(report: ScanReport, side: Side, policy: DecisionPolicy): Decision {
  const isRefused = policy.stateful === "refuse" && report.coverage.stateElsewhere.length > 0;
  const isIncomplete = isRefused || (policy.requireFullCoverage && unscannedReasons(report).length > 0);
  const isValid = report.isValid && !isIncomplete;
  // After an early stop the other checks have not run, so the rest of the text must be blocked.
  if (isIncomplete || (policy.failFast && !isValid)) return { isValid, outcome: "blocked" };
  const { scanners, masking } = policy;
  const outcome = outcomeOf(report, { scanners: scanners[side], conversationScanners: scanners.input, masking });
  return { isValid, outcome };
}

/**
 * Returns the reasons for incomplete coverage, under the field names of the coverage. The list is empty if every scanner scanned
 * everything.
 */
export function unscannedReasons({ coverage }: Pick<ScanReport, "coverage">): string[] {
  const { truncated, scannedChars, chars, partsSkipped, suppressed, failed, untrainedLanguage } = coverage;
  const isUntrained = Object.keys(untrainedLanguage).length > 0;
  const ofSources = Object.values(coverage.unscannedSources).reduce((sum, length) => sum + length, 0);
  const reasons: string[] = [];
  // Text that was skipped because of its source or its language does not count as truncated.
  if (truncated || (scannedChars < chars - ofSources && !isUntrained)) reasons.push("truncated");
  if (ofSources > 0) reasons.push("unscanned_source");
  if (partsSkipped > 0) reasons.push("parts_skipped");
  if (suppressed.length > 0) reasons.push("suppressed");
  if (failed.length > 0) reasons.push("failed");
  if (isUntrained) reasons.push("untrained_language");
  if (coverage.stateElsewhere.length > 0) reasons.push("state_elsewhere");
  if (coverage.unknownFields.length > 0) reasons.push("unknown_fields");
  return reasons;
}

/**
 * Validates the names of masking scanners.
 *
 * @throws GuardValidationError for a name without a scanner, or of a scanner that removes nothing.
 */
export function checkMasking(masking: ReadonlySet<string>, named: readonly NamedScanner[]): void {
  const issues = [...masking].flatMap((wanted, index) => {
    const found = named.filter(({ name, scanner }) => name === wanted || scanner.type === wanted);
    if (found.some(({ scanner }) => removesFindings(scanner))) return [];
    const names = named
      .filter(({ scanner }) => removesFindings(scanner) && !replacesValues(scanner))
      .map(({ name }) => name);
    const message =
      found.length > 0
        ? `${wanted} does not remove everything that it finds`
        : `unknown scanner ${wanted}${didYouMean(wanted, names) || "; name a scanner that rewrites texts"}`;
    return [{ path: `app.masking.${index}`, message }];
  });
  if (issues.length > 0) throw new GuardValidationError(issues);
}
