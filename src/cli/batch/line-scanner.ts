import type { JsonDocumentsReport, JsonReport } from "../../service/json-report.ts";
import { withPathPrefix } from "../../support/errors.ts";
import { type LineOptions, readSubject } from "../subjects.ts";
import { type ScannerChoice, Suite } from "../suite.ts";

/** The number of lines scanned at the same time: enough to keep every thread of the engine busy, few enough to hold in memory. */
export const CONCURRENCY = 16;

/** How lines are scanned. It is sent to other processes as JSON. */
export interface LineScanSettings {
  scanners: { choices: readonly ScannerChoice[] } | { config: string };
  /** Recognizers to add, in the JSON of Presidio's `ad_hoc_recognizers`. */
  recognizers?: unknown;
  lines: LineOptions;
  details: boolean;
  masksInjections: boolean;
}

export type LineReport = JsonReport | JsonDocumentsReport;

/** What {@link isUnread} means, for a message. */
export const UNREAD =
  "no scanner reads texts of this source, so nothing was scanned; conversation.scan lists those that do";

/** Whether no scanner read the texts of a report: the list of scanners has none for their source. An empty list of documents has no texts. */
export function isUnread(report: LineReport): boolean {
  if (!("documents" in report)) return Object.keys(report.scanners).length === 0;
  return report.documents.length > 0 && report.documents.every(({ scanners }) => Object.keys(scanners).length === 0);
}

/** Scans the values of lines, here or in other processes. */
export interface LineScanner {
  /** The number of lines to scan at the same time. */
  readonly concurrency: number;
  /** Rejects if the line cannot be scanned. */
  scan(value: unknown): Promise<LineReport>;
  close(): Promise<void>;
}

/** Creates the scanners of a command. */
export async function createSuite({
  scanners,
  recognizers,
}: Pick<LineScanSettings, "scanners" | "recognizers">): Promise<Suite> {
  const suite = await ("config" in scanners ? Suite.fromConfig(scanners.config) : Suite.fromChoices(scanners.choices));
  if (recognizers === undefined) return suite;
  try {
    withPathPrefix("--recognizers", () => suite.addRecognizers(recognizers as Parameters<Suite["addRecognizers"]>[0]));
  } catch (error) {
    await suite.close();
    throw error;
  }
  return suite;
}

/** Scans lines in this process. */
export async function createLineScanner(settings: LineScanSettings): Promise<LineScanner> {
  const { lines, details, masksInjections } = settings;
  const suite = await createSuite(settings);
  return {
    concurrency: CONCURRENCY,
    scan: async (value) => suite.scan(readSubject(value, lines), details, masksInjections),
    close: () => suite.close(),
  };
}
