import type { ModelObserver } from "../models/model-observer.ts";

/**
 * Observes a scan while it runs: it receives the start and end of each scanner, and the calls of models by that scanner. The server
 * creates traces from it. A program can pass its own observer as `observer` to `scanPrompt`, `scanOutput` and `scanConversation`.
 *
 * An observer receives no text, nor a part of one. Its methods run between the steps of the scan, so they must be fast. If one of them
 * throws, the scan rejects.
 *
 * @example
 * const observer: ScanObserver = {
 *   scannerStarted: ({ name }) => ({ ended: ({ milliseconds }) => console.log(name, milliseconds) }),
 * };
 * await scanPrompt([new input.Secrets()], "Hello!", { observer });
 */
export interface ScanObserver {
  /**
   * Called when a scanner starts with a text. Scanners run concurrently, so several may start before one ends.
   *
   * @returns the observer of this scanner run, or undefined if none is needed.
   */
  scannerStarted(start: ScannerStart): ScannerObserver | undefined;
}

/** The start of a scanner run. */
export interface ScannerStart {
  /** The name of the scanner in results, such as `Regex#2` or `PromptInjection[window]`. */
  name: string;
  /** The kind of scanner, such as `Regex`. */
  type: string;
  /** The length of the text, or of all texts together, in UTF-16 code units. */
  chars: number;
  /** Present if the run has no effect on the text. */
  mode?: "monitor";
}

/** Observes one scanner run on one text. */
export interface ScannerObserver extends ModelObserver {
  /** Called once, when the scanner has ended. */
  ended(end: ScannerEnd): void;
}

/** The end of a scanner run: a verdict or an error. */
export interface ScannerEnd {
  /** The duration of the run. */
  milliseconds: number;
  /** The verdict of the scanner. */
  verdict?: VerdictSummary;
  /** The code or the kind of the error, such as `GUARD_TIMEOUT` or `TypeError`. The error's message may quote texts. */
  error?: string;
}

/** A verdict without texts. */
export interface VerdictSummary {
  isValid: boolean;
  /** The risk score: below 0 if the text passes, above 0 if it fails. */
  score: number;
  /** The probability, 0..1, that was compared with the threshold. Absent for rules. */
  probability?: number;
  /** The number of findings. */
  findings: number;
}

/** Returns a verdict without texts. */
export function summarize(
  verdict: Omit<VerdictSummary, "findings"> & { findings: readonly unknown[] },
): VerdictSummary {
  const { isValid, score, probability, findings } = verdict;
  return { isValid, score, ...(probability === undefined ? {} : { probability }), findings: findings.length };
}
