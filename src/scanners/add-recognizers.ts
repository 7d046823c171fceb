import type { Scanner } from "../scan/scanner.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { BuiltInScanner } from "./definition.ts";
import { type AdHocRecognizer, AdHocRecognizers } from "./parts/ad-hoc-recognizers.ts";

/** Whether a scanner looks for personal data, so that recognizers can be added to it. */
export function takesRecognizers(
  scanner: Scanner,
): scanner is Scanner & Required<Pick<BuiltInScanner, "withRecognizers">> {
  return typeof (scanner as Partial<BuiltInScanner>).withRecognizers === "function";
}

/**
 * Returns scanners with more recognizers of personal data, in the JSON of Presidio's `ad_hoc_recognizers`. Scanners that look for personal
 * data, such as Anonymize, are replaced by ones that share their models; all others are the same. Only the given scanners need to be closed.
 *
 * @throws GuardValidationError with the path of every invalid value, such as `0.patterns.1.regex`, and if no scanner looks for personal data.
 */
export function addRecognizers(scanners: readonly Scanner[], recognizers: readonly AdHocRecognizer[]): Scanner[] {
  const compiled = new AdHocRecognizers(recognizers);
  if (!scanners.some(takesRecognizers)) throw new GuardValidationError([{ path: "", message: NO_TAKER }]);
  return scanners.map((scanner) => (takesRecognizers(scanner) ? scanner.withRecognizers(compiled) : scanner));
}

/** The error message if no scanner could use the recognizers: their values would pass unnoticed. */
export const NO_TAKER = "no scanner looks for personal data";
