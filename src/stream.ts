import type { ScanReport } from "./scan.ts";

/** What came of the latest piece of an answer that arrives in pieces; `report` is there when the answer has ended. */
export interface OutputStreamStep<Report extends ScanReport = ScanReport> {
  text: string;
  report?: Report;
}

/** An answer that arrives in pieces and is scanned on the way. */
export interface OutputStream<Report extends ScanReport = ScanReport> {
  push(piece: string): Promise<OutputStreamStep<Report>>;
  flush(): Promise<OutputStreamStep<Report>>;
  readonly waiting: number | undefined;
  end(): Promise<OutputStreamStep<Report>>;
}
