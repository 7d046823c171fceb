import type { Subject } from "../suite.ts";
import type { Clocks } from "./clocks.ts";
import type { Timing } from "./timing.ts";

/** The texts and the scanners of a row. */
export interface BenchRow {
  texts: Subject["kind"];
  /** The name of a scanner, `all scanners` of a list, or the path of a server. */
  name: string;
}

/** Scans one after another. */
export interface ClockRow extends BenchRow, Clocks {}

/** Concurrent scans. */
export interface ThroughputRow extends BenchRow, Timing {
  concurrency: number;
}

/** Resident memory of this process, in bytes. */
export interface Memory {
  /** Before the configuration was read. */
  before: number;
  /** After the scanners were loaded. */
  loaded: number;
  /** The peak since the start of the process. */
  peak: number;
  /** After the rest at the end. */
  rested: number;
}

/** The number of texts of a kind. The report does not contain the texts. */
export interface TextCount {
  texts: Subject["kind"];
  count: number;
  /** The total length in UTF-16 units; absent for conversations. */
  characters?: number;
}

/** What was measured. */
export interface Figures {
  clocks: ClockRow[];
  throughput: ThroughputRow[];
  /** Absent for a server, which is another process. */
  memory?: Memory;
}

/** The machine of a report. */
export interface MachineFacts {
  system: string;
  /** The number of processors that the process may use. */
  processors: number;
  /** The name of the first processor, if the system tells it. */
  model?: string;
  node: string;
}

/** The result of `guard-scan bench`, as `--json` writes it. */
export interface BenchReport extends Figures {
  /** The version of guard. */
  guard: string;
  /** The start of the measurement, in ISO 8601. */
  date: string;
  machine: MachineFacts;
  /** The path of the configuration, or the origin of the server. */
  subject: string;
  /** How long each row was measured. */
  seconds: number;
  texts: TextCount[];
}
