import type { Edit } from "./edits.ts";
import type { AppliedException } from "./exceptions/excepted-verdict.ts";
import { limitFindings } from "./findings.ts";
import type { Coverage, Finding } from "./scanner.ts";
import type { Source } from "./source.ts";

/**
 * The texts of a check. `latest`: the prompt, or the user messages that the model has not answered. `output`: an answer of the model.
 * `window`: the last few user messages together. `history`: messages that the model has already answered. Any other scope is the source
 * of the texts.
 */
export type Scope = "latest" | "output" | "window" | "history" | Exclude<Source, "user">;

/** Returns the scope of new texts of a source. */
export function scopeOf(source: Source): Scope {
  return source === "user" ? "latest" : source;
}

/**
 * The outcome of a check. `passed`: nothing failed; the scanner may have changed the text all the same. `review`: the text passed, but its
 * probability is above the review threshold of the scanner, so that a person should decide. `rewritten`: the text failed, and the scanner
 * rewrote it. `flagged`: the text failed and is unchanged. `error`: the scanner threw, which counts as a failure. If the check only monitors,
 * this is what would have happened.
 */
export const CHECK_OUTCOMES = ["passed", "review", "rewritten", "flagged", "error"] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** A text that a person should judge. */
export interface TextInReview {
  /** The text as the caller sent it. */
  text: string;
  source: Source;
  probability: number;
}

/** The number of texts in review that a check keeps. A person who has decided about them sees the next ones with the next request. */
const MAX_IN_REVIEW = 16;

/** The scanner and the scope of a check, which together identify it. */
export interface CheckId {
  /** The name of the scanner in the list, such as `Regex#2`. */
  scanner: string;
  scope: Scope;
}

/** The result of one scanner for the texts of one scope. */
export interface CheckResult extends CheckId {
  /** The kind of scanner, such as `Regex`. */
  type: string;
  isValid: boolean;
  /** Present if the check only monitors, so that it has no effect on the text and on the validity of the text. */
  mode?: "monitor";
  outcome: CheckOutcome;
  /** The risk score, -1..1: below 0 if the texts pass, above 0 if one of them fails. */
  score: number;
  /** The probability, 0..1, that was compared with the threshold. Absent for rules. */
  probability?: number;
  /** The findings. Offsets count in the original texts, even after rewriting scanners. */
  findings: Finding[];
  /** The exceptions that removed findings or the whole failure. {@link isValid}, {@link score} and {@link findings} are without them. */
  excepted?: AppliedException[] | undefined;
  /** The texts in review. Present if the outcome is `review`; replies to clients don't have it. */
  inReview?: readonly TextInReview[] | undefined;
  /** The edits of the original text. Absent if the check rewrote nothing, and in results of several texts. */
  edits?: readonly Edit[];
  /** The duration in milliseconds. */
  timing: number;
  /** How much of the texts the scanner scanned. */
  coverage: Coverage;
}

/** How much of some texts all checks together scanned. */
export interface TextCoverage {
  /** The length of the texts. */
  chars: number;
  /** The length that every check scanned. */
  scannedChars: number;
  /** Whether a part of the texts was not scanned. */
  truncated: boolean;
  /** The maximum number of windows in which a check read a text. */
  windows: number;
  /** The number of message parts that no scanner can read, such as images. */
  partsSkipped: number;
  /** The length of unscanned texts by source. */
  unscannedSources: Partial<Record<Source, number>>;
  /** References of the request to content that the model reads from elsewhere, such as `previous_response_id`. */
  stateElsewhere: string[];
}

/** The checks of one text, or of several texts together. */
export interface ScanResult {
  checks: CheckResult[];
  /** The suppressed checks. */
  suppressed: CheckId[];
  coverage: TextCoverage;
}

/** Returns a result without checks. */
export function emptyResult(): ScanResult {
  const coverage: TextCoverage = {
    chars: 0,
    scannedChars: 0,
    truncated: false,
    windows: 0,
    partsSkipped: 0,
    unscannedSources: {},
    stateElsewhere: [],
  };
  return { checks: [], suppressed: [], coverage };
}

/** Whether a check fails its texts. A check that only monitors does not, whatever its verdict. */
export function fails({ isValid, mode }: Pick<CheckResult, "isValid" | "mode">): boolean {
  return !isValid && mode !== "monitor";
}

/** Whether a person should judge a text of a check. A check that only monitors asks nobody. */
export function isInReview({ outcome, mode }: Pick<CheckResult, "outcome" | "mode">): boolean {
  return outcome === "review" && mode !== "monitor";
}

/** Whether no check fails the texts. */
export function isValid({ checks }: Pick<ScanResult, "checks">): boolean {
  return !checks.some(fails);
}

/** Finds the check of a scanner in a scope. */
export function findCheck(
  { checks }: Pick<ScanResult, "checks">,
  { scanner, scope }: CheckId,
): CheckResult | undefined {
  return checks.find((check) => check.scanner === scanner && check.scope === scope);
}

/** Adds the coverage of one check of a text to the coverage of the text. */
export function addCheckCoverage(to: TextCoverage, { chars, scannedChars, truncated, windows }: Coverage): void {
  to.scannedChars = Math.max(0, Math.min(to.scannedChars, to.chars - (chars - scannedChars)));
  to.truncated ||= truncated;
  to.windows = Math.max(to.windows, windows);
}

/** Adds the coverage of further texts. */
export function addTextCoverage(to: TextCoverage, from: TextCoverage): void {
  to.chars += from.chars;
  to.scannedChars += from.scannedChars;
  to.truncated ||= from.truncated;
  to.windows = Math.max(to.windows, from.windows);
  to.partsSkipped += from.partsSkipped;
  for (const [source, chars = 0] of Object.entries(from.unscannedSources) as [Source, number?][]) {
    to.unscannedSources[source] = (to.unscannedSources[source] ?? 0) + chars;
  }
  for (const name of from.stateElsewhere) if (!to.stateElsewhere.includes(name)) to.stateElsewhere.push(name);
}

/**
 * Collects the checks of many texts. Checks of the same scanner and scope are merged: the worst score, and the findings of all texts in
 * order.
 */
export class ResultCollector {
  readonly #checks = new Map<string, CheckResult>();
  readonly #suppressed = new Map<string, CheckId>();
  readonly #coverage = emptyResult().coverage;

  /** Adds the result of further texts. */
  add({ checks, suppressed, coverage }: ScanResult): void {
    for (const check of checks) this.addCheck(check);
    for (const id of suppressed) this.#suppressed.set(keyOf(id), id);
    addTextCoverage(this.#coverage, coverage);
  }

  /** Adds a check without changing the coverage. */
  addCheck(check: CheckResult): void {
    const key = keyOf(check);
    const known = this.#checks.get(key);
    this.#checks.set(key, known ? worseCheck(known, check) : check);
  }

  get result(): ScanResult {
    return {
      checks: [...this.#checks.values()],
      suppressed: [...this.#suppressed.values()],
      coverage: this.#coverage,
    };
  }
}

/** Merges results of several texts. */
export function mergeResults(results: readonly ScanResult[]): ScanResult {
  const [first] = results;
  if (first && results.length === 1) return first;
  const collector = new ResultCollector();
  for (const result of results) collector.add(result);
  return collector.result;
}

function keyOf({ scanner, scope }: CheckId): string {
  return `${scope} ${scanner}`;
}

const SEVERITY: Readonly<Record<CheckOutcome, number>> = { passed: 0, review: 1, rewritten: 2, flagged: 3, error: 4 };

/** Returns the worse of two outcomes of one check. */
export function worseOutcome(one: CheckOutcome, other: CheckOutcome): CheckOutcome {
  return SEVERITY[other] > SEVERITY[one] ? other : one;
}

/** Returns the texts in review of both checks, as a field. */
export function mergeInReview(
  { inReview: known = [] }: Partial<CheckResult>,
  { inReview: next = [] }: CheckResult,
): Pick<CheckResult, "inReview"> | undefined {
  if (known.length + next.length === 0) return undefined;
  const texts = new Map([...known, ...next].map((one) => [one.text, one]));
  return { inReview: [...texts.values()].slice(0, MAX_IN_REVIEW) };
}

/** Merges a check with the same check of a later text: the worst score and the findings of both. */
function worseCheck(known: CheckResult, next: CheckResult): CheckResult {
  const worse = next.score > known.score ? next : known;
  const { edits: _, ...rest } = worse;
  const { findings, omitted } = limitFindings([...known.findings, ...next.findings]);
  const excepted = mergeExcepted(known.excepted, next.excepted);
  return Object.assign(rest, excepted && { excepted }, mergeInReview(known, next), {
    outcome: worseOutcome(known.outcome, next.outcome),
    findings,
    timing: Math.max(known.timing, next.timing),
    coverage: addedCoverage(known.coverage, next.coverage, omitted),
  });
}

/** Merges what exceptions removed from a check of two texts: the worst score and the findings of both. */
function mergeExcepted(
  known: readonly AppliedException[] | undefined,
  next: readonly AppliedException[] | undefined,
): AppliedException[] | undefined {
  if (!known || !next) return known || next ? [...(known ?? next ?? [])] : undefined;
  const merged = new Map(known.map((one) => [one.id, one]));
  for (const one of next) {
    const other = merged.get(one.id);
    const worse = other && other.score > one.score ? other : one;
    const { findings } = limitFindings([...(other?.findings ?? []), ...one.findings]);
    merged.set(one.id, Object.assign({}, worse, { findings }));
  }
  return [...merged.values()];
}

function addedCoverage(known: Coverage, next: Coverage, omitted: number): Coverage {
  const languages = [...(known.untrainedLanguages ?? []), ...(next.untrainedLanguages ?? [])];
  const findingsOmitted = (known.findingsOmitted ?? 0) + (next.findingsOmitted ?? 0) + omitted;
  const coverage: Coverage = {
    chars: known.chars + next.chars,
    scannedChars: known.scannedChars + next.scannedChars,
    truncated: known.truncated || next.truncated,
    windows: Math.max(known.windows, next.windows),
  };
  if (languages.length > 0) coverage.untrainedLanguages = [...new Set(languages)].sort();
  if (findingsOmitted > 0) coverage.findingsOmitted = findingsOmitted;
  return coverage;
}
