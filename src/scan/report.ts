import type { EngineTimings } from "../native.ts";
import { type CheckId, type CheckResult, fails, isInReview, type ScanResult, type Scope } from "./check-result.ts";
import type { Edit } from "./edits.ts";
import type { Coverage, Finding } from "./scanner.ts";
import { SOURCES, type Source } from "./source.ts";

/** The name of the check of the accumulated risk. */
export const CONVERSATION_RISK = "ConversationRisk";

/** Returns the suffix that llm-guard's maps append to a scanner's name for checks of a scope: `[window]`, `[tool]`, or nothing. */
export function suffixOf(scope: Scope): string {
  return scope === "latest" || scope === "output" ? "" : `[${scope}]`;
}

/** Returns the name of a check in llm-guard's maps: `X`, `X[window]`, `X[tool]`. */
export function resultName({ scanner, scope }: CheckId): string {
  return scanner + suffixOf(scope);
}

/** All suffixes of names in results. */
export const SUFFIXES: readonly string[] = (["window", "history", ...SOURCES] as const).flatMap((scope) =>
  scope === "user" ? [] : [suffixOf(scope)],
);

/** How much a whole scan covered. */
export interface ScanCoverage extends Omit<Coverage, "untrainedLanguages" | "findingsOmitted"> {
  /** The number of message parts that no scanner can read, such as images. */
  partsSkipped: number;
  /** The names of suppressed checks. */
  suppressed: string[];
  /** The names of checks that threw, with `onScannerError: "block"`. */
  failed: string[];
  /**
   * The languages that a check could not judge because its model was neither trained nor measured in them, by check: ISO 639-1 codes, or
   * `und-` and a script.
   */
  untrainedLanguage: Record<string, string[]>;
  /** The number of omitted findings of checks with more than 1,000 findings. */
  findingsOmitted: Record<string, number>;
  /** The length of unscanned texts by source, in a conversation. Texts of checks that the caller disabled do not count. */
  unscannedSources: Partial<Record<Source, number>>;
  /**
   * References to content that the model reads from elsewhere, so that no scanner read it: fields that refer to earlier answers, stored
   * prompts and connected data, and types of tools that the provider runs.
   */
  stateElsewhere: string[];
  /** The fields of the request that guard does not know and did not read. Used by the HTTP API; see `app.unknown_fields`. */
  unknownFields: string[];
}

/** The results of a scan. The maps have one entry for each check, under llm-guard's names, in the order of the list. */
export interface ScanReport {
  /** Whether no check fails the texts. Checks that only monitor do not count. */
  isValid: boolean;
  /** One result for each check. The maps below are derived from it. */
  checks: CheckResult[];
  resultsValid: Record<string, boolean>;
  /** Risk scores: below 0 if the text passes, above 0 if it fails. */
  resultsScore: Record<string, number>;
  /** The probabilities, 0..1, that were compared with the thresholds. Checks by rules have none. */
  probabilities: Record<string, number>;
  findings: Record<string, Finding[]>;
  /** The duration of each check in milliseconds. */
  timing: Record<string, number>;
  /**
   * The time of each model for queueing, tokenization and inference, in milliseconds, summed over the texts of the call. Scanners that share
   * an answer share its times. Models answer texts concurrently, so the sum may exceed the elapsed time.
   */
  engineTiming: Record<string, EngineTimings>;
  coverage: ScanCoverage;
}

/** The report on one text that may have been rewritten. */
export interface TextReport extends ScanReport {
  /** The edits that turn the original text into the sanitized text, in ascending order and without overlaps. */
  edits: readonly Edit[];
}

/** Creates the report of a scan: llm-guard's maps beside the checks. */
export function reportOf(
  { checks, suppressed, coverage }: ScanResult,
  engineTiming: ScanReport["engineTiming"] = {},
): ScanReport {
  const report: ScanReport = {
    isValid: true,
    checks,
    resultsValid: {},
    resultsScore: {},
    probabilities: {},
    findings: {},
    timing: {},
    engineTiming,
    coverage: {
      chars: coverage.chars,
      scannedChars: coverage.scannedChars,
      truncated: coverage.truncated,
      windows: coverage.windows,
      partsSkipped: coverage.partsSkipped,
      suppressed: suppressed.map(resultName),
      failed: [],
      untrainedLanguage: {},
      findingsOmitted: {},
      unscannedSources: coverage.unscannedSources,
      stateElsewhere: coverage.stateElsewhere,
      unknownFields: [],
    },
  };
  for (const check of checks) addCheck(report, resultName(check), check);
  return report;
}

function addCheck(report: ScanReport, name: string, check: CheckResult): void {
  const { untrainedLanguages, findingsOmitted } = check.coverage;
  report.isValid &&= !fails(check);
  report.resultsValid[name] = check.isValid;
  report.resultsScore[name] = check.score;
  if (check.probability !== undefined) report.probabilities[name] = check.probability;
  report.findings[name] = check.findings;
  report.timing[name] = check.timing;
  // A check that only monitors must not block a text because of its coverage either.
  const isEnforced = check.mode !== "monitor";
  if (isEnforced && check.outcome === "error") report.coverage.failed.push(name);
  if (isEnforced && untrainedLanguages) report.coverage.untrainedLanguage[name] = untrainedLanguages;
  if (findingsOmitted) report.coverage.findingsOmitted[name] = findingsOmitted;
}

/** Returns the names of the checks that fail the texts: those whose risk score is above 0, without those that only monitor. */
export function failingChecks({ resultsScore, checks }: Pick<ScanReport, "resultsScore" | "checks">): string[] {
  const monitored = new Set(checks.filter(({ mode }) => mode === "monitor").map(resultName));
  return Object.keys(resultsScore).filter((name) => (resultsScore[name] ?? 0) > 0 && !monitored.has(name));
}

/** Returns the names of the checks that ask for the review of a person. */
export function checksInReview({ checks }: Pick<ScanReport, "checks">): string[] {
  return checks.filter(isInReview).map(resultName);
}

/** The only name under which assignment can't add an entry to a JavaScript object. */
const PROTOTYPE = "__proto__";

/** The message for a name that {@link isReservedName} rejects. */
export const RESERVED_NAME =
  `expected another name: ${CONVERSATION_RISK} and names that end in ${SUFFIXES.slice(0, -1).join(", ")} or ${SUFFIXES.at(-1)} ` +
  `are reserved for checks of a conversation, and results can't have an entry ${PROTOTYPE}`;

/** Whether a scanner must not have a name, because its result would be lost or would replace another check of a conversation. */
export function isReservedName(name: string): boolean {
  return [CONVERSATION_RISK, PROTOTYPE].includes(name) || SUFFIXES.some((suffix) => name.endsWith(suffix));
}
