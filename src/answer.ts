import type { ScanReport } from "./scan.ts";
import type { ServiceReport } from "./service.ts";
import { toSnakeCase } from "./validation/options.ts";

/** The answer to a scan, as the HTTP API and the command line write it in JSON. */
export interface Answer {
  sanitized_prompt?: string;
  sanitized_output?: string;
  /** All messages of a conversation as they may be sent on. */
  sanitized_messages?: ServiceReport["sanitizedMessages"];
  sanitized_tools?: ServiceReport["sanitizedTools"];
  sanitized_system?: ServiceReport["sanitizedSystem"];
  is_valid: boolean;
  /** Risk scores by scanner: below 0 passes, above 0 fails. */
  scanners: Record<string, number>;
  findings?: ScanReport["findings"];
  probabilities?: ScanReport["probabilities"];
  /** Milliseconds by scanner. */
  timing?: ScanReport["timing"];
  /** Milliseconds by model; see {@link ScanReport.engineTiming}. */
  engine_timing?: ScanReport["engineTiming"];
  /** The fields of {@link ScanReport.coverage} with names in snake_case. */
  coverage?: Record<string, unknown>;
}

/**
 * Turns a report into the answer that is written in JSON.
 *
 * @param details whether the answer includes findings, probabilities, timing and coverage.
 * @param sanitized the name of the field that holds the sanitized text; without it the answer has no text.
 */
export function answerOf(
  report: ServiceReport,
  details: boolean,
  sanitized?: "sanitized_prompt" | "sanitized_output",
): Answer {
  const { text, isValid, resultsScore, probabilities, findings, timing, engineTiming, coverage } = report;
  const { sanitizedMessages, sanitizedTools, sanitizedSystem } = report;
  const snakeCase = Object.fromEntries(Object.entries(coverage).map(([key, value]) => [toSnakeCase(key), value]));
  return {
    ...(sanitized ? { [sanitized]: text } : {}),
    ...(sanitized && details && sanitizedMessages ? { sanitized_messages: sanitizedMessages } : {}),
    ...(sanitized && details && sanitizedTools ? { sanitized_tools: sanitizedTools } : {}),
    ...(sanitized && details && sanitizedSystem ? { sanitized_system: sanitizedSystem } : {}),
    is_valid: isValid,
    scanners: resultsScore,
    ...(details ? { findings, probabilities, timing, engine_timing: engineTiming, coverage: snakeCase } : {}),
  };
}
