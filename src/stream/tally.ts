import { addFindings } from "../scan/findings.ts";
import { addCoverage, copyResult } from "../scan/merge.ts";
import { addUnchanged, emptyReport, type ScanReport } from "../scan/scan.ts";
import type { Finding } from "../scan/scanner.ts";

/** Adds up what scanners say of the parts of one answer: for each scanner the worst result, and what was found. */
export class Tally {
  readonly report: ScanReport = emptyReport();
  #unscanned = 0;

  /**
   * Adds a report on a part.
   *
   * @param found returns the findings of a scanner that are new, with their offsets in the whole answer.
   */
  add(report: ScanReport, found: (name: string, findings: readonly Finding[]) => readonly Finding[]): void {
    const total = this.report;
    for (const [name, score] of Object.entries(report.resultsScore)) {
      const known = total.resultsScore[name];
      const findings = total.findings[name] ?? [];
      const timing = (total.timing[name] ?? 0) + (report.timing[name] ?? 0);
      if (known === undefined || score > known) copyResult(total, name, report, name);
      total.findings[name] = findings;
      addFindings(total, name, found(name, report.findings[name] ?? []));
      total.timing[name] = timing;
    }
    this.addTimings(report.engineTiming);
    addUnchanged(total, report.unchanged);
    const { chars, scannedChars, truncated } = report.coverage;
    this.#unscanned += chars - scannedChars;
    addCoverage(total, report);
    total.coverage.truncated ||= truncated;
  }

  /** Adds times of models. */
  addTimings(timings: ScanReport["engineTiming"]): void {
    addEngineTimings(this.report.engineTiming, timings);
  }

  /**
   * Returns the report on the whole answer.
   *
   * @param chars the length of the answer.
   * @param left how much of it no scanner was given.
   */
  total(chars: number, left: number): ScanReport {
    const { coverage } = this.report;
    const scannedChars = Math.max(0, chars - left - this.#unscanned);
    return {
      ...this.report,
      coverage: { ...coverage, chars, scannedChars, truncated: coverage.truncated || left > 0 },
    };
  }
}

/** Adds times of models to others. */
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
