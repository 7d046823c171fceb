import type { CheckResult } from "../scan/check-result.ts";
import { isEverywhere, type ModeSetting } from "../scan/mode.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import {
  type MonitoredOutcome,
  monitoredOutcome,
  type Outcome,
  type OutcomePolicy,
  outcomeOf,
  type ReviewPolicy,
} from "../scan/outcome.ts";
import type { ScanReport } from "../scan/report.ts";
import type { Side } from "../scan/scanner.ts";

/** The settings of decisions. */
export interface DecisionPolicy {
  /** The scanners by side. */
  scanners: Readonly<Record<Side, readonly NamedScanner[]>>;
  /** The names or types of scanners that remove their findings from the text, so that the findings need not block it. */
  masking: ReadonlySet<string>;
  /** What happens to texts in review. */
  review: ReviewPolicy;
  failFast: boolean;
  requireFullCoverage: boolean;
  /** Whether to refuse requests whose model reads texts from elsewhere; see `coverage.stateElsewhere`. */
  stateful: "allow" | "refuse";
  /** The mode of all scanners. With `monitor` or `off` for all texts, the settings above do not block either. */
  mode?: ModeSetting | undefined;
}

/** Whether a text is valid, what happens to it, and what would happen to it if no check only monitored. */
export interface Decision extends MonitoredOutcome {
  isValid: boolean;
  outcome: Outcome;
}

/**
 * Decides about a text, a conversation or an answer. It is the only place for this decision.
 *
 * @param side the side of the scanners that judged it. Input scanners judge the texts of a conversation.
 */
export function decide(report: ScanReport, side: Side, policy: DecisionPolicy): Decision {
  const { scanners, masking, review, failFast } = policy;
  const outcomes: OutcomePolicy = { scanners: scanners[side], conversationScanners: scanners.input, masking, review };
  const unmet = unmetSettings(report, policy);
  const isIncomplete = unmet.length > 0 && enforcesSettings(policy);
  const isValid = report.isValid && !isIncomplete;
  // After an early stop the other checks have not run, so the rest of the text must be blocked.
  const isBlocked = isIncomplete || (failFast && !isValid);
  const outcome = isBlocked ? "blocked" : outcomeOf(report, outcomes);
  const { wouldBlock = [], wouldMask = [] } = monitoredOutcome(report.checks, outcomes);
  const blocking = failFast ? [...wouldBlock, ...wouldMask] : wouldBlock;
  if (!isIncomplete) blocking.push(...(unmet.length > 0 ? unmet : unmetByMonitored(report, policy)));
  return {
    isValid: isValid && !(outcome === "review" && review === "hold"),
    outcome,
    ...(blocking.length > 0 && { wouldBlock: blocking }),
    ...(wouldMask.length > 0 && !failFast && { wouldMask }),
  };
}

/** Whether settings beside the scanners may block a text. If all scanners only monitor, these settings do too. */
export function enforcesSettings({ mode }: Pick<DecisionPolicy, "mode">): boolean {
  return !isEverywhere(mode, "monitor") && !isEverywhere(mode, "off");
}

/** Returns the settings beside the scanners that the texts do not meet, under their names in a file. */
function unmetSettings(report: ScanReport, { stateful, requireFullCoverage, mode }: DecisionPolicy): string[] {
  if (isEverywhere(mode, "off")) return [];
  const isStateful = stateful === "refuse" && report.coverage.stateElsewhere.length > 0;
  const isIncomplete = requireFullCoverage && unscannedReasons(report).length > 0;
  return [...(isStateful ? ["stateful"] : []), ...(isIncomplete ? [FULL_COVERAGE] : [])];
}

/** Returns the settings that the texts would not meet because of checks that only monitor. */
function unmetByMonitored({ checks }: ScanReport, { requireFullCoverage }: DecisionPolicy): string[] {
  const isIncomplete = ({ mode, outcome, coverage }: CheckResult) =>
    mode === "monitor" &&
    (outcome === "error" ||
      coverage.truncated ||
      coverage.scannedChars < coverage.chars ||
      coverage.untrainedLanguages !== undefined);
  return requireFullCoverage && checks.some(isIncomplete) ? [FULL_COVERAGE] : [];
}

const FULL_COVERAGE = "require_full_coverage";

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
