import type { ExchangePart, GuardBlockedError } from "../../guard/blocked-error.ts";
import type { GuardReport } from "../../guard/guard.ts";

/** How texts are guarded, whatever they are used for. */
export interface GuardedOptions {
  /** The scanners to leave out, by their types or by their names in results. */
  suppress?: readonly string[];
  /**
   * Is told of every report, also of those that let a text pass: for metrics, and to see in `coverage` what could not be read. An answer
   * has one report for each of its texts.
   */
  onReport?: (what: ExchangePart, report: GuardReport) => void;
}

/** How the calls of a model are guarded. */
export interface GuardedModelOptions extends GuardedOptions {
  /**
   * Gives the text with which a blocked call is answered, in the place of the model's answer. By default, such a call throws a
   * {@link GuardBlockedError}.
   */
  onBlocked?: (error: GuardBlockedError) => string;
}
