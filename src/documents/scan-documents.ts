import { mergeResults } from "../scan/check-result.ts";
import { nameScanners } from "../scan/named-scanners.ts";
import { reportOf, type ScanCoverage, type ScanReport, type TextReport } from "../scan/report.ts";
import { checkDocumentsOptions, type ScanOptions } from "../scan/scan-options.ts";
import type { Finding, Scanner } from "../scan/scanner.ts";
import { GuardValidationError } from "../support/errors.ts";
import { type DocumentResult, scanNamedDocuments } from "./document-scan.ts";

/** The options that say how documents are scanned. */
export interface DocumentsOptions extends Omit<ScanOptions, "conversation"> {
  /**
   * Whether the statements by which a document fails as an injection are cut out, so that the rest of it can be used. A statement is a
   * sentence, or a line of a table, a list or a log. All scanners with {@link Scanner.detect} decide together. The default is false.
   */
  maskInjections?: boolean;
  /** With `false`, no scanner rewrites a document and all scanners read it as it was given. The default is true. */
  rewrite?: boolean;
  /**
   * Whether the call stops at the first document that fails, at the first scanner that fails it. Scanners and documents behind it
   * have no result. The default is false.
   */
  failFast?: boolean;
}

/** The results for one document, as it was given. */
export interface DocumentReport extends Omit<TextReport, "engineTiming"> {
  /** The document as the scanners rewrote it, without what was cut out. */
  sanitizedText: string;
  /** What was cut out. It is absent when nothing was: masking was not asked for, or the document is no injection. */
  masked?: MaskedReport;
}

/** What masking did to a document, and the results for what is left of it. */
export interface MaskedReport extends Pick<ScanReport, "resultsValid" | "resultsScore"> {
  /** Whether what is left passes all scanners. An empty text does, so a document of nothing but an attack may be left empty. */
  isValid: boolean;
  /** How much of what is left was scanned. */
  coverage: ScanCoverage;
  /** The number of statements that were cut out. */
  statements: number;
  /** What was cut out, in ascending order. The document as it was given consists of what is left and these spans. */
  cuts: Finding[];
}

export interface DocumentsReport {
  /** Whether all documents pass as they were given. */
  isValid: boolean;
  /** The results for each document, in the order of the documents. With `failFast` the list ends with the first that fails. */
  documents: DocumentReport[];
  /** How long each model took for all documents together; see {@link ScanReport.engineTiming}. */
  engineTiming: ScanReport["engineTiming"];
  /** How much of all documents together was scanned. */
  coverage: ScanCoverage;
}

/**
 * Scans documents, such as the passages that a retriever found, each by itself and many at a time. Documents that are equal are
 * scanned once. Each is data (`source: "tool"`) unless the options say otherwise.
 *
 * Scanners that rewrite go through the documents in their order and share one vault, so that a name has the same placeholder in all
 * of them.
 *
 * @throws GuardValidationError for arguments of the wrong type, with the path `texts.3` for the fourth document; ScannerError when a
 *   scanner throws, and the signal's reason when the signal is aborted.
 */
export async function scanDocuments(
  scanners: readonly Scanner[],
  texts: readonly string[],
  options: DocumentsOptions = {},
): Promise<DocumentsReport> {
  checkDocuments(texts);
  checkDocumentsOptions(options);
  const stopAtFirstFailure = options.failFast ?? false;
  const given = Object.assign({ stopAtFirstFailure }, options);
  const { documents, engineTiming } = await scanNamedDocuments(nameScanners(scanners), texts, given);
  const { isValid, coverage } = reportOf(mergeResults(documents));
  return { isValid, documents: documents.map(documentReport), engineTiming, coverage };
}

/** Makes the report on one document. */
export function documentReport({ text, edits, masked, ...result }: DocumentResult): DocumentReport {
  const { engineTiming: _, ...report } = reportOf(result);
  return Object.assign({ sanitizedText: text, edits }, report, masked && { masked: maskedReport(masked) });
}

function maskedReport({ result, statements, cuts }: NonNullable<DocumentResult["masked"]>): MaskedReport {
  const { isValid, resultsValid, resultsScore, coverage } = reportOf(result);
  return { isValid, resultsValid, resultsScore, coverage, statements, cuts };
}

function checkDocuments(texts: unknown): void {
  if (!Array.isArray(texts)) {
    throw new GuardValidationError([{ path: "texts", message: "expected an array of strings" }]);
  }
  // Not flatMap, which would skip the holes of an array.
  const issues = Array.from(texts, (text: unknown, index) =>
    typeof text === "string" ? [] : [{ path: `texts.${index}`, message: `expected a string, got ${typeof text}` }],
  ).flat();
  if (issues.length > 0) throw new GuardValidationError(issues);
}
