import { columns } from "../layout.ts";
import { megabytes } from "../system.ts";
import type { BenchReport, ClockRow, Memory, ThroughputRow } from "./report.ts";
import { formatMilliseconds } from "./timing.ts";

/** A table, and the indexes of the columns aligned at the right. */
export interface Table {
  heading: string;
  titles: readonly string[];
  rows: readonly (readonly string[])[];
  right: number[];
}

/** The points at which memory is read, and their titles. */
export const MEMORY_POINTS: readonly (readonly [keyof Memory, string])[] = [
  ["before", "before loading"],
  ["loaded", "loaded"],
  ["peak", "peak"],
  ["rested", "after a rest"],
];

/** The tables of a report. */
export function benchTables({ clocks, throughput, memory }: BenchReport): Table[] {
  return [
    {
      heading: "One text after another (milliseconds per text)",
      titles: [
        "TEXTS",
        "WHAT",
        "WALL P50",
        "P95",
        "CPU P50",
        "P95",
        "ENGINE P50",
        "P95",
        "QUEUED",
        "TOKENS",
        "MODEL",
        "SCANS",
      ],
      rows: clocks.map(clockCells),
      right: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    },
    {
      heading: "Concurrent scans",
      titles: ["TEXTS", "WHAT", "AT ONCE", "SCANS/S", "P50 MS", "P95 MS", "P99 MS", "SCANS"],
      rows: throughput.map(throughputCells),
      right: [2, 3, 4, 5, 6, 7],
    },
    ...(memory === undefined
      ? []
      : [
          {
            heading: "Resident memory",
            titles: MEMORY_POINTS.map(([, title]) => title.toUpperCase()),
            rows: [MEMORY_POINTS.map(([point]) => megabytes(memory[point]))],
            right: MEMORY_POINTS.map((_, index) => index),
          },
        ]),
  ];
}

/** The tables of a report for a terminal with lines of `width` characters. */
export function benchText(report: BenchReport, width?: number): string {
  return benchTables(report)
    .map(({ heading, titles, rows, right }) => `${heading}\n${columns([titles, ...rows], { width, right })}`)
    .join("\n");
}

function clockCells({ texts, name, calls, wall, cpu, engine }: ClockRow): string[] {
  const times = [wall.p50, wall.p95, cpu?.p50, cpu?.p95];
  const ofEngine = [engine?.p50, engine?.p95, engine?.queued, engine?.tokenized, engine?.inferred];
  const cells = [...times, ...ofEngine].map((time) => (time === undefined ? "-" : formatMilliseconds(time)));
  return [`${texts}s`, name, ...cells, String(calls)];
}

function throughputCells({ texts, name, concurrency, perSecond, p50, p95, p99, calls }: ThroughputRow): string[] {
  const rate = perSecond.toFixed(perSecond >= 100 ? 0 : 1);
  return [`${texts}s`, name, String(concurrency), rate, ...[p50, p95, p99].map(formatMilliseconds), String(calls)];
}
