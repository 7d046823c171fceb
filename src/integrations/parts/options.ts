import type { ExchangePart, GuardBlockedError } from "../../guard/blocked-error.ts";
import type { GuardReport } from "../../guard/guard.ts";

/** How texts are guarded. */
export interface GuardedOptions {
  /** The scanners to skip, by their types or by their names in results. */
  suppress?: readonly string[];
  /**
   * Called with every report, also of texts that pass: for metrics, and to see in `coverage` which texts could not be read. An answer
   * has a report for each of its texts.
   */
  onReport?: (what: ExchangePart, report: GuardReport) => void;
}

/** How the calls of a model are guarded. */
export interface GuardedModelOptions extends GuardedOptions {
  /**
   * Returns the text that replaces the model's answer if the call is blocked. By default, a blocked call throws a
   * {@link GuardBlockedError}.
   */
  onBlocked?: (error: GuardBlockedError) => string;
}
