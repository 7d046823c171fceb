import { isWithheld } from "../scan/outcome.ts";
import { checksInReview, failingChecks } from "../scan/report.ts";
import { GuardError } from "../support/errors.ts";
import type { GuardReport } from "./guard.ts";

/** The part of an exchange with a model: the request, or the answer to it. */
export type ExchangePart = "request" | "answer";

/**
 * A request was not sent or an answer is not returned, because a check failed, or because a person should judge it first. The message names
 * checks and quotes no text.
 */
export class GuardBlockedError extends GuardError {
  /** The part that was blocked. */
  readonly part: ExchangePart;
  /** `review`: the part waits for the review of a person. */
  readonly outcome: "blocked" | "review";
  /** The report of the checks. It quotes findings, so it is not enumerable: loggers write all enumerable properties of an error. */
  declare readonly report: GuardReport;

  constructor(part: ExchangePart, report: GuardReport) {
    super("GUARD_BLOCKED", blockedMessage(part, report));
    this.part = part;
    this.outcome = report.outcome === "review" ? "review" : "blocked";
    Object.defineProperty(this, "report", { value: report });
  }
}

/** @throws GuardBlockedError if the part is blocked or held for a review. */
export function throwIfBlocked(part: ExchangePart, report: GuardReport): void {
  if (isWithheld(report)) throw new GuardBlockedError(part, report);
}

/** Returns one sentence that says what was blocked or held, and by which checks. */
export function blockedMessage(
  part: ExchangePart,
  report: Pick<GuardReport, "resultsScore" | "checks"> & Partial<Pick<GuardReport, "outcome" | "reviews">>,
): string {
  if (report.outcome === "review") {
    const checks = checksInReview(report).join(", ");
    const ids = (report.reviews ?? []).map(({ id }) => id).join(", ");
    return `The ${part} is held by guard until a person has approved it: ${checks}${ids && ` (review ${ids})`}.`;
  }
  const failing = failingChecks(report);
  // A text also fails if a part of it was not scanned.
  const by = failing.length > 0 ? failing.join(", ") : "incomplete coverage";
  return `The ${part} was blocked by guard: ${by}.`;
}
