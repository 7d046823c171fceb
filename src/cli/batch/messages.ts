import type { ErrorCode, ValidationIssue } from "../../support/errors.ts";
import type { LineReport, LineScanSettings } from "./line-scanner.ts";

/** What the command sends to a process that scans lines. */
export type ToWorker = { kind: "start"; settings: LineScanSettings } | { kind: "scan"; id: number; value: unknown };

/** What a process that scans lines replies. `refused` has the error of its scanners: every other process would have it, too. */
export type FromWorker =
  | { kind: "loaded" }
  | { kind: "ready" }
  | { kind: "refused"; message: string; code?: ErrorCode; issues?: readonly ValidationIssue[] }
  | { kind: "report"; id: number; report: LineReport }
  | { kind: "error"; id: number; message: string };
