import { failingChecks } from "../scan/report.ts";
import { GuardError } from "../support/errors.ts";
import type { GuardReport } from "./guard.ts";

/** What was blocked: the request to a model, or the answer of one. */
export type Blocked = "request" | "answer";

/** A request was not sent, or an answer is not shown, because a check failed. The message names checks and quotes no text. */
export class GuardBlockedError extends GuardError {
  readonly what: Blocked;
  /** What the checks said. It quotes what was found, so it is not enumerable: loggers write down all of an error that is. */
  declare readonly report: GuardReport;

  constructor(what: Blocked, report: GuardReport) {
    super("GUARD_BLOCKED", blockedMessage(what, report));
    this.what = what;
    Object.defineProperty(this, "report", { value: report });
  }
}

/** @throws GuardBlockedError when the outcome is `blocked`. */
export function throwIfBlocked(what: Blocked, report: GuardReport): void {
  if (report.outcome === "blocked") throw new GuardBlockedError(what, report);
}

/** Says in one sentence that something was blocked, and by which checks. */
export function blockedMessage(what: Blocked, { resultsScore }: Pick<GuardReport, "resultsScore">): string {
  const failing = failingChecks(resultsScore);
  // A text may fail although no check did, because something of it was not looked at.
  const by = failing.length > 0 ? failing.join(", ") : "incomplete coverage";
  return `The ${what} was blocked by guard: ${by}.`;
}
