import {
  addTextCoverage,
  type CheckResult,
  emptyResult,
  mergeInReview,
  type ScanResult,
} from "../scan/check-result.ts";
import { limitFindings } from "../scan/findings.ts";
import type { ScanReport } from "../scan/report.ts";
import type { Finding } from "../scan/scanner.ts";

/** Accumulates the results for the parts of an answer: the worst result of each scanner, and all findings. */
export class StreamTally {
  readonly engineTiming: ScanReport["engineTiming"] = {};
  readonly #checks = new Map<string, CheckResult>();
  readonly #result = emptyResult();
  #unscanned = 0;

  constructor(suppressed: ScanResult["suppressed"]) {
    this.#result.suppressed.push(...suppressed);
  }

  /**
   * Adds the checks of a part.
   *
   * @param newFindings returns the new findings of a check, with their offsets in the whole answer.
   */
  add({ checks, coverage }: ScanResult, newFindings: (check: CheckResult) => Finding[]): void {
    for (const check of checks) this.#addCheck(check, newFindings(check));
    this.#unscanned += coverage.chars - coverage.scannedChars;
    addTextCoverage(this.#result.coverage, coverage);
  }

  /** Adds timings of models. */
  addTimings(timings: ScanReport["engineTiming"]): void {
    addEngineTimings(this.engineTiming, timings);
  }

  /** The result of the checks so far. */
  get result(): ScanResult {
    return Object.assign({}, this.#result, { checks: [...this.#checks.values()] });
  }

  /**
   * Returns the result for the whole answer.
   *
   * @param chars the length of the answer.
   * @param unread the number of unscanned characters.
   */
  total(chars: number, unread: number): ScanResult {
    const { coverage } = this.#result;
    const scannedChars = Math.max(0, chars - unread - this.#unscanned);
    const truncated = coverage.truncated || unread > 0;
    return Object.assign({}, this.result, {
      coverage: Object.assign({}, coverage, { chars, scannedChars, truncated }),
    });
  }

  #addCheck(check: CheckResult, added: Finding[]): void {
    const known = this.#checks.get(check.scanner);
    const { findings, omitted } = limitFindings([...(known?.findings ?? []), ...added]);
    const worse = known && known.score >= check.score ? known : check;
    const isError = known?.outcome === "error" || check.outcome === "error";
    const isFlagged = known?.outcome === "flagged" || check.outcome === "flagged";
    const inReview = mergeInReview(known ?? {}, check);
    const isReviewed = inReview !== undefined && worse.outcome === "passed";
    const { edits: _, ...rest } = worse;
    const findingsOmitted = (known?.coverage.findingsOmitted ?? 0) + (check.coverage.findingsOmitted ?? 0) + omitted;
    const languages = [...(known?.coverage.untrainedLanguages ?? []), ...(check.coverage.untrainedLanguages ?? [])];
    this.#checks.set(
      check.scanner,
      Object.assign(rest, inReview, {
        outcome: isError ? "error" : isFlagged ? "flagged" : isReviewed ? "review" : worse.outcome,
        findings,
        timing: (known?.timing ?? 0) + check.timing,
        coverage: Object.assign(
          {},
          worse.coverage,
          findingsOmitted > 0 ? { findingsOmitted } : undefined,
          languages.length > 0 ? { untrainedLanguages: [...new Set(languages)].sort() } : undefined,
        ),
      }),
    );
  }
}

/** Adds timings of models to others. */
export function addEngineTimings(to: ScanReport["engineTiming"], from: ScanReport["engineTiming"]): void {
  for (const [model, { queued, tokenized, inferred }] of Object.entries(from)) {
    const sum = to[model] ?? { queued: 0, tokenized: 0, inferred: 0 };
    to[model] = {
      queued: sum.queued + queued,
      tokenized: sum.tokenized + tokenized,
      inferred: sum.inferred + inferred,
    };
  }
}
