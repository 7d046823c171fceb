import { mergeResults } from "../scan/check-result.ts";
import { nameScanners } from "../scan/named-scanners.ts";
import { reportOf, type ScanCoverage, type ScanReport, type TextReport } from "../scan/report.ts";
import { checkDocumentsOptions, type ScanOptions } from "../scan/scan-options.ts";
import type { Finding, Scanner } from "../scan/scanner.ts";
import { GuardValidationError } from "../support/errors.ts";
import { describeKind } from "../support/schema-messages.ts";
import { type DocumentResult, scanNamedDocuments } from "./document-scan.ts";

/** The options of {@link scanDocuments}. */
export interface DocumentsOptions extends Omit<ScanOptions, "conversation"> {
  /**
   * Whether to cut the statements out by which a document fails as an injection, so that the rest can be used. A statement is a sentence, or a
   * line of a table, a list or a log. All scanners with {@link Scanner.detect} decide together. The default is false.
   */
  maskInjections?: boolean;
  /** With `false`, no scanner rewrites a document and all scanners read the original. The default is true. */
  rewrite?: boolean;
  /**
   * Whether to stop at the first failing document, at the first scanner that fails it. Later scanners and documents have no result. The
   * default is false.
   */
  failFast?: boolean;
}

/** The results for one original document. */
export interface DocumentReport extends Omit<TextReport, "engineTiming"> {
  /** The document, rewritten and without the cuts. */
  sanitizedText: string;
  /** The cuts. Absent if nothing was cut: masking is off, or the document is no injection. */
  masked?: MaskedReport;
}

/** The cuts in a document, and the results for the rest. */
export interface MaskedReport extends Pick<ScanReport, "resultsValid" | "resultsScore"> {
  /** Whether the rest passes all scanners. An empty text passes, so a document that consists of an attack may become empty. */
  isValid: boolean;
  /** The coverage of the rest. */
  coverage: ScanCoverage;
  /** The number of statements that were cut out. */
  statements: number;
  /** The cuts in ascending order. The original document consists of the rest and these spans. */
  cuts: Finding[];
}

export interface DocumentsReport {
  /** Whether all original documents pass. */
  isValid: boolean;
  /** The results for each document, in order. With `failFast` the list ends with the first failing document. */
  documents: DocumentReport[];
  /** The time of each model for all documents together; see {@link ScanReport.engineTiming}. */
  engineTiming: ScanReport["engineTiming"];
  /** The coverage of all documents together. */
  coverage: ScanCoverage;
}

/**
 * Scans documents, such as the passages that a retriever found, one by one and many concurrently. Equal documents are scanned once. They
 * are data (`source: "tool"`) by default.
 *
 * Rewriting scanners read the documents in order and share one vault, so that a name has the same placeholder in all of them.
 *
 * @throws GuardValidationError for arguments of the wrong type, with the path `documents.3` for the fourth document; ScannerError if a
 *   scanner throws, and the signal's reason if the signal is aborted.
 */
export async function scanDocuments(
  scanners: readonly Scanner[],
  documents: readonly string[],
  options: DocumentsOptions = {},
): Promise<DocumentsReport> {
  checkDocuments(documents);
  checkDocumentsOptions(options);
  const stopAtFirstFailure = options.failFast ?? false;
  const given = Object.assign({ stopAtFirstFailure }, options);
  const { documents: results, engineTiming } = await scanNamedDocuments(nameScanners(scanners), documents, given);
  const { isValid, coverage } = reportOf(mergeResults(results));
  return { isValid, documents: results.map(documentReport), engineTiming, coverage };
}

/** Creates the report on one document. */
export function documentReport({ text, edits, masked, ...result }: DocumentResult): DocumentReport {
  const { engineTiming: _, ...report } = reportOf(result);
  return Object.assign({ sanitizedText: text, edits }, report, masked && { masked: maskedReport(masked) });
}

function maskedReport({ result, statements, cuts }: NonNullable<DocumentResult["masked"]>): MaskedReport {
  const { isValid, resultsValid, resultsScore, coverage } = reportOf(result);
  return { isValid, resultsValid, resultsScore, coverage, statements, cuts };
}

function checkDocuments(documents: unknown): void {
  if (!Array.isArray(documents)) {
    const message = `expected an array of texts, got ${describeKind(documents)}`;
    throw new GuardValidationError([{ path: "documents", message }]);
  }
  // flatMap would skip the holes of an array.
  const issues = Array.from(documents, (text: unknown, index) => {
    if (typeof text === "string") return [];
    return [{ path: `documents.${index}`, message: `expected the text of a document, got ${describeKind(text)}` }];
  }).flat();
  if (issues.length > 0) throw new GuardValidationError(issues);
}
