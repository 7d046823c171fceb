import type { MonitoredOutcome, Outcome } from "../scan/outcome.ts";
import type { ScanReport } from "../scan/report.ts";

/** Options for releasing text while an answer arrives. */
export interface StreamOptions {
  /**
   * The maximum characters (UTF-16 code units) that wait for the end of their sentence, if scanners judge sentences. The default is 240,
   * which few sentences exceed.
   */
  holdbackChars?: number | undefined;
  /**
   * The milliseconds after which waiting text is released up to its last whole word, if no more of the answer arrives. A possible part of a
   * longer span keeps waiting. The default is 2000.
   */
  holdbackMs?: number | undefined;
  /**
   * The maximum characters of an answer that are kept for scanners of whole answers, in UTF-16 code units. The default is 65,536. Such
   * scanners read the beginning of a longer answer, and the coverage reports it. If one of them rewrites answers, a longer one is blocked.
   */
  wholeChars?: number | undefined;
}

/** The report on a streamed answer. */
export interface StreamReport extends ScanReport, MonitoredOutcome {
  /** The decision about the answer. With `blocked`, held text is never released. */
  outcome: Outcome;
  /** The scanners that ran at the end only, because they need the whole answer. */
  atEnd: string[];
}
