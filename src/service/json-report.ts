import type { CheckResult } from "../scan/check-result.ts";
import type { MonitoredOutcome } from "../scan/outcome.ts";
import { checksInReview, resultName, type ScanReport } from "../scan/report.ts";
import type { Finding } from "../scan/scanner.ts";
import { toSnakeCase } from "../support/options.ts";
import type { ServiceDocument, ServiceReport } from "./service-types.ts";

/** The JSON result of a scan, for the HTTP API and the command line. */
export interface JsonReport extends Results {
  sanitized_prompt?: string;
  sanitized_output?: string;
  /** All messages of a conversation, sanitized. */
  sanitized_messages?: ServiceReport["sanitizedMessages"];
  sanitized_tools?: ServiceReport["sanitizedTools"];
  sanitized_system?: ServiceReport["sanitizedSystem"];
  /** The other fields of a model request, sanitized. */
  sanitized_fields?: ServiceReport["sanitizedFields"];
  /** The tool calls of an output, with restored values. */
  sanitized_tool_calls?: ServiceReport["sanitizedToolCalls"];
  /** The decision about the text. */
  outcome?: ServiceReport["outcome"];
  /** Milliseconds by model; see {@link ScanReport.engineTiming}. */
  engine_timing?: ScanReport["engineTiming"];
}

/** The results of all scanners for a text. */
interface Results {
  is_valid: boolean;
  /** Risk scores by scanner: below 0 passes, above 0 fails. */
  scanners: Record<string, number>;
  /** The checks that only monitor and would have blocked the text. Absent if there are none. */
  would_block?: string[];
  /** The checks that only monitor and would have masked the text. Absent if there are none. */
  would_mask?: string[];
  /** The checks that ask for the review of a person. Absent if there are none. */
  in_review?: string[];
  /** The reviews of texts that a person should judge. Absent if there are none, and if nobody keeps them. */
  reviews?: ServiceReport["reviews"];
  checks?: JsonCheck[];
  findings?: ScanReport["findings"];
  /** The edits that turn a single text into the sanitized text. */
  edits?: ServiceReport["edits"];
  probabilities?: ScanReport["probabilities"];
  /** Milliseconds by scanner. */
  timing?: ScanReport["timing"];
  /** The fields of {@link ScanReport.coverage} with names in snake_case. */
  coverage?: Record<string, unknown>;
}

/** One check in JSON. */
export interface JsonCheck {
  /** The name of the check in the other maps: `X[tool]`. */
  name: string;
  scanner: string;
  type: string;
  scope: CheckResult["scope"];
  is_valid: boolean;
  mode?: "monitor";
  outcome: CheckResult["outcome"];
  score: number;
  probability?: number;
  timing: number;
  coverage: Record<string, unknown>;
  /** The exceptions that removed findings or the whole failure; see {@link CheckResult.excepted}. */
  excepted?: CheckResult["excepted"];
}

/** A client's id for one of its documents. */
export type DocumentId = string | number;

/** The JSON result of a scan of documents. */
export interface JsonDocumentsReport extends Pick<Results, "would_block" | "would_mask" | "in_review" | "reviews"> {
  /** Whether all documents passed unchanged. */
  is_valid: boolean;
  documents: JsonDocument[];
  sanitized_fields?: ServiceReport["sanitizedFields"];
  /** The decision about all documents together. */
  outcome?: ServiceReport["outcome"];
  engine_timing?: ScanReport["engineTiming"];
  /** How much of all documents together was scanned. */
  coverage?: Record<string, unknown>;
}

/** The results of one original document. */
interface JsonDocument extends Results {
  id?: DocumentId;
  /** The sanitized document. */
  sanitized_text?: string;
  /** What was cut out of the document, and the results for the rest. */
  masked?: Pick<Results, "is_valid" | "scanners" | "coverage"> & { statements: number; cuts: Finding[] };
}

/**
 * Converts a report to its JSON result.
 *
 * @param details whether the result includes findings, probabilities, timing and coverage.
 * @param sanitized the field for the sanitized text. Without it, the result has no text.
 */
export function jsonReport(
  report: ServiceReport,
  details: boolean,
  sanitized?: "sanitized_prompt" | "sanitized_output",
): JsonReport {
  const { text, outcome, engineTiming, sanitizedToolCalls } = report;
  const { sanitizedMessages, sanitizedTools, sanitizedSystem, sanitizedFields } = report;
  return Object.assign(
    sanitized ? { [sanitized]: text } : {},
    sanitized && details && sanitizedMessages && { sanitized_messages: sanitizedMessages },
    sanitized && details && sanitizedTools && { sanitized_tools: sanitizedTools },
    sanitized && details && sanitizedSystem && { sanitized_system: sanitizedSystem },
    sanitized && details && sanitizedFields && { sanitized_fields: sanitizedFields },
    sanitized && sanitizedToolCalls && { sanitized_tool_calls: sanitizedToolCalls },
    resultsOf(report, details),
    monitoredFields(report),
    reviewFields(report),
    sanitized && details && report.edits && { edits: report.edits },
    details && { outcome, engine_timing: engineTiming },
  );
}

/**
 * Converts a report on documents to its JSON result.
 *
 * @param ids the client's ids of the documents, in order; undefined for documents without an id.
 * @param details whether the result includes findings, probabilities, timing and coverage.
 */
export function jsonDocumentsReport(
  report: ServiceReport,
  ids: readonly (DocumentId | undefined)[],
  details: boolean,
): JsonDocumentsReport {
  const { isValid, outcome, documents = [], sanitizedFields, engineTiming, coverage } = report;
  return {
    is_valid: isValid,
    ...monitoredFields(report),
    ...reviewFields(report),
    documents: documents.map((document, index) => jsonDocument(document, ids[index], details)),
    ...(details && sanitizedFields ? { sanitized_fields: sanitizedFields } : {}),
    ...(details ? { outcome, engine_timing: engineTiming, coverage: snakeCase(coverage) } : {}),
  };
}

function jsonDocument(
  { sanitizedText, masked, ...document }: ServiceDocument,
  id: DocumentId | undefined,
  details: boolean,
): JsonDocument {
  return {
    ...(id === undefined ? {} : { id }),
    ...(sanitizedText === undefined ? {} : { sanitized_text: sanitizedText }),
    ...resultsOf(document, details),
    ...(details && sanitizedText !== undefined ? { edits: document.edits } : {}),
    ...(masked
      ? {
          masked: {
            is_valid: masked.isValid,
            scanners: masked.resultsScore,
            statements: masked.statements,
            cuts: masked.cuts,
            ...(details ? { coverage: snakeCase(masked.coverage) } : {}),
          },
        }
      : {}),
  };
}

function resultsOf(report: Omit<ScanReport, "engineTiming">, details: boolean): Results {
  const { isValid, checks, resultsScore, probabilities, findings, timing, coverage } = report;
  return {
    is_valid: isValid,
    scanners: resultsScore,
    ...(details
      ? { checks: checks.map(jsonCheck), findings, probabilities, timing, coverage: snakeCase(coverage) }
      : {}),
  };
}

/** Returns what checks that only monitor would have done. */
export function monitoredFields({
  wouldBlock,
  wouldMask,
}: MonitoredOutcome): Pick<Results, "would_block" | "would_mask"> {
  return { ...(wouldBlock && { would_block: wouldBlock }), ...(wouldMask && { would_mask: wouldMask }) };
}

function reviewFields(report: ServiceReport): Pick<Results, "in_review" | "reviews"> {
  const inReview = checksInReview(report);
  const { reviews } = report;
  return { ...(inReview.length > 0 && { in_review: inReview }), ...(reviews && { reviews }) };
}

/** Converts a check without its findings, which are in the field `findings` under the name of the check. */
function jsonCheck({
  type,
  scanner,
  scope,
  isValid,
  mode,
  outcome,
  score,
  probability,
  timing,
  coverage,
  excepted,
}: CheckResult): JsonCheck {
  return {
    ...{ name: resultName({ scanner, scope }), scanner, type, scope, is_valid: isValid, outcome, score },
    ...(mode && { mode }),
    ...(probability === undefined ? {} : { probability }),
    timing,
    coverage: snakeCase(coverage),
    ...(excepted ? { excepted } : {}),
  };
}

function snakeCase(coverage: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(coverage).map(([key, value]) => [toSnakeCase(key), value]));
}
