import type { Outcome } from "../scan/outcome.ts";
import type { ScanReport } from "../scan/report.ts";

/** How text of an answer is released while the answer arrives. */
export interface StreamOptions {
  /**
   * The most characters (UTF-16 code units) that wait for the end of their sentence, where scanners judge sentences. The default is 240,
   * which few sentences exceed.
   */
  holdbackChars?: number | undefined;
  /**
   * The milliseconds after which text that waits is released up to its last whole word, when nothing more of the answer comes. What may
   * still become a part of something longer waits on. The default is 2000.
   */
  holdbackMs?: number | undefined;
  /**
   * How much of an answer is kept for scanners that need all of it, in UTF-16 code units. The default is 65,536. Of a longer answer such
   * scanners read the beginning, and the coverage says so; when one of them rewrites answers, a longer one is blocked.
   */
  wholeChars?: number | undefined;
}

/** The report on an answer that arrived in pieces. */
export interface StreamReport extends ScanReport {
  /** What happens to the answer. With `blocked`, the text that was held back is never released. */
  outcome: Outcome;
  /** The names of the scanners that need the whole answer, and so ran only at its end. */
  atEnd: string[];
}
