import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import { type CheckResult, fails, isInReview } from "./check-result.ts";
import type { NamedScanner } from "./named-scanners.ts";
import { checksInReview, failingChecks, resultName, type ScanReport } from "./report.ts";
import type { Scanner } from "./scanner.ts";

/** The decision about a scanned text; see {@link outcomeOf}. */
export const OUTCOMES = ["passed", "masked", "review", "blocked"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * What happens to a text that a person should judge. `hold`: it must not be used until somebody has approved it. `pass`: it may be used,
 * and is only reported.
 */
export const REVIEW_POLICIES = ["hold", "pass"] as const;
export type ReviewPolicy = (typeof REVIEW_POLICIES)[number];

/** Whether a text must not be used: it is blocked, or it waits for the review of a person. */
export function isWithheld({ outcome, isValid }: { outcome: Outcome; isValid: boolean }): boolean {
  return outcome === "blocked" || (outcome === "review" && !isValid);
}

/** Returns the names of the checks that withhold a text, or mask it: those that fail, and those in review if the text is held. */
export function withholdingChecks(report: Pick<ScanReport, "isValid" | "resultsScore" | "checks">): string[] {
  const held = report.isValid ? [] : checksInReview(report);
  return [...failingChecks(report), ...held];
}

/** Returns the worst of several outcomes, `passed` without any. */
export function worstOutcome(reports: readonly { outcome: Outcome }[]): Outcome {
  return OUTCOMES[Math.max(0, ...reports.map(({ outcome }) => OUTCOMES.indexOf(outcome)))] as Outcome;
}

/** Whether a scanner replaces values with placeholders of a vault, so that its findings need not block the text. */
export function replacesValues({ sanitizes, vaultScope }: Scanner): boolean {
  return sanitizes && vaultScope !== undefined;
}

/** Whether a scanner removes all of its findings from a text. */
export function removesFindings({ sanitizes, leavesFindings = false }: Scanner): boolean {
  return sanitizes && !leavesFindings;
}

/** Whether texts that fail only by this scanner may be used, because it removed its findings; see {@link outcomeOf}. */
export function masks({ name, scanner }: NamedScanner, masking: ReadonlySet<string>): boolean {
  return removesFindings(scanner) && (replacesValues(scanner) || masking.has(name) || masking.has(scanner.type));
}

/**
 * Validates the names of masking scanners.
 *
 * @param path the path of the list, for errors.
 * @throws GuardValidationError for a name without a scanner, or of a scanner that removes nothing.
 */
export function checkMasking(
  masking: ReadonlySet<string>,
  { named, path }: { named: readonly NamedScanner[]; path: string },
): void {
  const issues = [...masking].flatMap((wanted, index) => {
    const found = named.filter(({ name, scanner }) => name === wanted || scanner.type === wanted);
    if (found.some(({ scanner }) => removesFindings(scanner))) return [];
    const names = named
      .filter(({ scanner }) => removesFindings(scanner) && !replacesValues(scanner))
      .map(({ name }) => name);
    const message =
      found.length > 0
        ? `${wanted} does not remove everything that it finds`
        : `unknown scanner ${wanted}${didYouMean(String(wanted), names) || "; name a scanner that rewrites texts"}`;
    return [{ path: `${path}.${index}`, message }];
  });
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/** The settings of a decision. */
export interface OutcomePolicy {
  /** The scanners that judged the text. */
  scanners: readonly NamedScanner[];
  /** The scanners that judged texts of a conversation, if they differ. */
  conversationScanners?: readonly NamedScanner[];
  /** The names or types of scanners whose findings need not block, because the scanners remove them from the text. */
  masking: ReadonlySet<string>;
  /** What happens to texts in review. The default is `pass`. */
  review?: ReviewPolicy | undefined;
}

/**
 * Decides about a text. `passed`: no check failed, and the sanitized text may be used. `masked`: some checks failed, but all of them
 * removed their findings. `review`: a person should judge the text; see {@link ReviewPolicy}. `blocked`: the text must not be used.
 *
 * Checks that replace values with placeholders of a vault never block. Other checks block unless the policy names them.
 */
export function outcomeOf(
  { isValid, checks }: { isValid: boolean; checks: readonly CheckResult[] },
  policy: OutcomePolicy,
): Outcome {
  const failing = checks.filter(fails);
  // A text also fails if a part of it was not scanned and full coverage is required.
  if (!isValid && !(failing.length > 0 && failing.every((check) => isMasked(check, policy)))) return "blocked";
  // A rewritten text that may be used has the outcome `masked`, so that clients take the rewritten one.
  const isReviewed = checks.some(isInReview) && (isValid || policy.review === "hold");
  if (isReviewed) return "review";
  return isValid ? "passed" : "masked";
}

/** Whether a failing check removed its findings, so that it need not block the text. */
function isMasked(
  { scanner, scope, outcome }: CheckResult,
  { scanners, conversationScanners = scanners, masking }: OutcomePolicy,
): boolean {
  if (outcome !== "rewritten") return false;
  const judging = scope === "latest" || scope === "output" ? scanners : conversationScanners;
  return judging.some((item) => item.name === scanner && masks(item, masking));
}

/** What checks that only monitor would have done. Each field is absent if it would be empty. */
export interface MonitoredOutcome {
  /** The names of the checks that would have blocked the text. */
  wouldBlock?: string[];
  /** The names of the checks that would have masked the text: it would have been rewritten, and could have been used. */
  wouldMask?: string[];
}

/** Returns what the failing checks that only monitor would have done. */
export function monitoredOutcome(checks: readonly CheckResult[], policy: OutcomePolicy): MonitoredOutcome {
  const failing = checks.filter(({ isValid, mode }) => !isValid && mode === "monitor");
  if (failing.length === 0) return {};
  const wouldMask = failing.filter((check) => isMasked(check, policy)).map(resultName);
  const wouldBlock = failing.filter((check) => !isMasked(check, policy)).map(resultName);
  return { ...(wouldBlock.length > 0 && { wouldBlock }), ...(wouldMask.length > 0 && { wouldMask }) };
}
