import { failingChecks } from "../scan/report.ts";
import { GuardError } from "../support/errors.ts";
import type { GuardReport } from "./guard.ts";

/** The part of an exchange with a model: the request, or the answer to it. */
export type ExchangePart = "request" | "answer";

/** A request was not sent or an answer is not returned, because a check failed. The message names checks and quotes no text. */
export class GuardBlockedError extends GuardError {
  /** The part that was blocked. */
  readonly part: ExchangePart;
  /** The report of the checks. It quotes findings, so it is not enumerable: loggers write all enumerable properties of an error. */
  declare readonly report: GuardReport;

  constructor(part: ExchangePart, report: GuardReport) {
    super("GUARD_BLOCKED", blockedMessage(part, report));
    this.part = part;
    Object.defineProperty(this, "report", { value: report });
  }
}

/** @throws GuardBlockedError if the outcome is `blocked`. */
export function throwIfBlocked(part: ExchangePart, report: GuardReport): void {
  if (report.outcome === "blocked") throw new GuardBlockedError(part, report);
}

/** Returns one sentence that says what was blocked and by which checks. */
export function blockedMessage(part: ExchangePart, report: Pick<GuardReport, "resultsScore" | "checks">): string {
  const failing = failingChecks(report);
  // A text also fails if a part of it was not scanned.
  const by = failing.length > 0 ? failing.join(", ") : "incomplete coverage";
  return `The ${part} was blocked by guard: ${by}.`;
}
