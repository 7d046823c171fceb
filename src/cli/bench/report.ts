import type { Subject } from "../suite.ts";
import type { Clocks } from "./clocks.ts";
import type { MachineFacts } from "./machine.ts";
import type { Timing } from "./timing.ts";

/** What was measured: texts of one kind, by a scanner, `all scanners` of a list, or a path of a server. */
export interface Measured {
  texts: Subject["kind"];
  name: string;
}

/** The three clocks of scans one after another. */
export interface ClockRow extends Measured, Clocks {}

/** Scans at the same time. */
export interface ThroughputRow extends Measured, Timing {
  /** How many scans ran at the same time. */
  concurrency: number;
}

/** Resident memory of this process, in bytes. */
export interface Memory {
  /** Before the configuration was read. */
  before: number;
  /** When the scanners were loaded. */
  loaded: number;
  /** The most since the process began. */
  peak: number;
  /** After the rest at the end. */
  rested: number;
}

/** How many texts of a kind there were, and their characters in UTF-16 units, together. Nothing of the texts themselves. */
export interface TextCount {
  texts: Subject["kind"];
  count: number;
  /** Absent for conversations. */
  characters?: number;
}

/** What was measured, without what it was measured on. */
export interface Figures {
  clocks: ClockRow[];
  throughput: ThroughputRow[];
  /** Absent for a server, whose memory is not seen from here. */
  memory?: Memory;
}

/** Everything that `guard-scan bench` measured; `--json` writes it. */
export interface BenchReport extends Figures {
  guard: string;
  /** When it began, in ISO 8601. */
  date: string;
  machine: MachineFacts;
  /** The configuration file, or the address of the server. */
  subject: string;
  /** How long each row was measured. */
  seconds: number;
  texts: TextCount[];
}
