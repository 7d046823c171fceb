import { toSnakeCase } from "../options.ts";
import type { ScanReport } from "../scan.ts";
import type { ServedReport } from "./scan-service.ts";

/** An answer to a scan, as the HTTP API and the command line give it. */
export interface Answer {
  sanitized_prompt?: string;
  sanitized_output?: string;
  is_valid: boolean;
  scanners: Record<string, number>;
  findings?: ScanReport["findings"];
  probabilities?: ScanReport["probabilities"];
  timing?: ScanReport["timing"];
  coverage?: Record<string, unknown>;
}

/**
 * The answer for a report.
 *
 * @param sanitized the field of the sanitized text; without it the text is left out.
 */
export function answerOf(
  { text, isValid, resultsScore, probabilities, findings, timing, coverage }: ServedReport,
  details: boolean,
  sanitized?: "sanitized_prompt" | "sanitized_output",
): Answer {
  const snakeCase = Object.fromEntries(Object.entries(coverage).map(([key, value]) => [toSnakeCase(key), value]));
  return {
    ...(sanitized ? { [sanitized]: text } : {}),
    is_valid: isValid,
    scanners: resultsScore,
    ...(details ? { findings, probabilities, timing, coverage: snakeCase } : {}),
  };
}
