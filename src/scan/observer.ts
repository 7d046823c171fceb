import type { ModelObserver } from "../models/model-observer.ts";

/**
 * Follows a scan while it runs: it is told which scanner began and ended, and which models that scanner asked. The server makes
 * traces from this, and a program can pass its own observer as `observer` to `scanPrompt`, `scanOutput` and `scanConversation`.
 *
 * Nothing that an observer is told holds a text, or a part of one. Its methods run between the steps of the scan, so they must be
 * quick. An error that one of them throws rejects the scan.
 *
 * @example
 * const observer: ScanObserver = {
 *   scannerStarted: ({ name }) => ({ ended: ({ milliseconds }) => console.log(name, milliseconds) }),
 * };
 * await scanPrompt([new input.Secrets()], "Hello!", { observer });
 */
export interface ScanObserver {
  /**
   * Called when a scanner begins with a text. Scanners run side by side, so several may have begun before one ends.
   *
   * @returns who is told of the further course of this scanner; undefined when nobody has to be.
   */
  scannerStarted(start: ScannerStart): ScannerObserver | undefined;
}

/** What is told when a scanner begins. */
export interface ScannerStart {
  /** The name of the scanner in results, such as `Regex#2` or `PromptInjection[window]`. */
  name: string;
  /** The kind of scanner, such as `Regex`. */
  type: string;
  /** The length of the text, or of all texts together, in UTF-16 code units. */
  chars: number;
}

/** Follows one scanner with one text. */
export interface ScannerObserver extends ModelObserver {
  /** Called once, when the scanner has ended. */
  ended(end: ScannerEnd): void;
}

/** How a scanner ended: with a verdict or with an error. */
export interface ScannerEnd {
  /** How long the scanner took. */
  milliseconds: number;
  /** What the scanner said of the text. */
  verdict?: VerdictSummary;
  /** The code or the kind of the error, such as `GUARD_TIMEOUT` or `TypeError`. The error's message may quote texts. */
  error?: string;
}

/** A verdict without the texts that are in it. */
export interface VerdictSummary {
  isValid: boolean;
  /** The risk score: below 0 when the text passes, and above 0 when it fails. */
  score: number;
  /** The probability, 0..1, that the threshold was compared with. It is absent when the scanner decided by rules. */
  probability?: number;
  /** The number of findings. */
  findings: number;
}

/** Returns what can be told of a verdict. */
export function summarize(
  verdict: Omit<VerdictSummary, "findings"> & { findings: readonly unknown[] },
): VerdictSummary {
  const { isValid, score, probability, findings } = verdict;
  return { isValid, score, ...(probability === undefined ? {} : { probability }), findings: findings.length };
}
