import { addon, native } from "../native.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { isEverywhere } from "../scan/mode.ts";
import type { MonitoredOutcome, Outcome } from "../scan/outcome.ts";
import { checksInReview, failingChecks } from "../scan/report.ts";
import type { Finding } from "../scan/scanner.ts";
import { Vault } from "../scan/vault.ts";
import type { MessageScan } from "../service/message-scan.ts";
import type { ScanService } from "../service/service.ts";
import { GuardError, ScannerError } from "../support/errors.ts";
import { restoreOriginals } from "../text/placeholders.ts";
import { SlotReader } from "./slots.ts";

/** A finding without the text that was found. */
export type QuotelessFinding = Omit<Finding, "text">;

/** What happens to a text of a session. */
export interface TextVerdict extends MonitoredOutcome {
  /**
   * `passed`: the text is forwarded, with {@link strings} in place of its own strings if they are set. `masked`: what failed was removed,
   * and the rest is forwarded. `blocked`: nothing is forwarded.
   */
  outcome: Outcome;
  /** The names of the checks that failed. It is empty if the text was not checked completely. */
  failing: readonly string[];
  /** The risk scores of all checks. */
  scores: Readonly<Record<string, number>>;
  findings: Readonly<Record<string, readonly QuotelessFinding[]>>;
  /** Why a text is blocked although no check failed. `review`: a person should judge it first; {@link failing} names the checks. */
  reason?: "error" | "coverage" | "review";
  /** The new strings of the text, one for each of its pieces. */
  strings?: readonly string[];
}

/** Scans the texts of one session. They share one vault, so that a value has one placeholder. */
export class SessionScanner {
  readonly #vault = new Vault();
  readonly #service: ScanService;
  readonly #onError: (reason: string) => void;

  /** @param onError receives the reason why a text could not be checked. The reason quotes no text. */
  constructor(service: ScanService, onError: (reason: string) => void) {
    this.#service = service;
    this.#onError = onError;
  }

  /**
   * Scans a text. A text that can't be checked is blocked, unless all scanners only monitor.
   *
   * @returns a promise that rejects only with the reason of the signal.
   */
  async scan(text: MessageText, { signal, ...scan }: MessageScan & { signal: AbortSignal }): Promise<TextVerdict> {
    try {
      const request = { suppress: [], offsets: "utf16", rewrite: true, vault: this.#vault, signal } as const;
      const report = await this.#service.message(text, request, scan);
      const { resultsScore: scores, strings, wouldBlock = [], wouldMask = [] } = report;
      const isHeld = report.outcome === "review" && !report.isValid;
      // A session can't wait for a person, so a held text is blocked like any other.
      const outcome = isHeld ? "blocked" : report.outcome;
      const failing = isHeld ? checksInReview(report) : failingChecks(report);
      const verdict: TextVerdict = { outcome, failing, scores, findings: withoutQuotes(report.findings) };
      if (isHeld) verdict.reason = "review";
      else if (outcome === "blocked" && failing.length === 0) verdict.reason = "coverage";
      if (outcome !== "blocked" && strings) verdict.strings = strings;
      if (wouldBlock.length > 0) verdict.wouldBlock = wouldBlock;
      if (wouldMask.length > 0) verdict.wouldMask = wouldMask;
      return verdict;
    } catch (error) {
      signal.throwIfAborted();
      this.#onError(reasonOf(error));
      if (isEverywhere(this.#service.mode, "monitor")) {
        return { outcome: "passed", failing: [], scores: {}, findings: {}, wouldBlock: ["unchecked"] };
      }
      return { outcome: "blocked", failing: [], scores: {}, findings: {}, reason: "error" };
    }
  }

  /** Replaces the placeholders in the arguments of a call with the values of the vault. */
  async restoreValues(params: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    if (this.#vault.size === 0) return;
    const reader = new SlotReader();
    reader.read(params, "arguments", "params/arguments");
    for (const { text, write } of reader.slots) {
      const entries = this.#vault.entriesIn(text);
      if (entries.length === 0) continue;
      const placeholders = entries.map(([placeholder]) => placeholder);
      const originals = entries.map(([, original]) => original);
      const { matches } = await native(() => addon.restorePlaceholders(text, placeholders, originals, "exact"), {
        signal,
      });
      if (matches.length > 0) write?.(restoreOriginals(text, matches, originals));
    }
    reader.commit();
  }
}

function withoutQuotes(findings: Readonly<Record<string, readonly Finding[]>>): Record<string, QuotelessFinding[]> {
  const quoteless = ({ text: _, ...finding }: Finding): QuotelessFinding => finding;
  return Object.fromEntries(Object.entries(findings).map(([name, list]) => [name, list.map(quoteless)]));
}

/** Why a scan failed, without the message of an error that is not guard's: it might quote the text. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ScannerError)) return error instanceof GuardError ? error.message : "an unexpected error";
  return error.cause instanceof GuardError ? error.message : `${error.scanner} failed`;
}
