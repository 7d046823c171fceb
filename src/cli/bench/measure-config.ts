import { setTimeout as sleep } from "node:timers/promises";
import { AnswerCache } from "../../models/call-context.ts";
import type { Scanner } from "../../scan/scanner.ts";
import { Vault } from "../../scan/vault.ts";
import { UsageError } from "../command.ts";
import { type Subject, Suite } from "../suite.ts";
import { clocked, type ModelTimings } from "./clocks.ts";
import type { ClockRow, Figures, ThroughputRow } from "./report.ts";
import { numberedSubject, type Texts } from "./texts.ts";
import { timed } from "./timing.ts";

/** How to measure. */
export interface BenchOptions {
  /** How long each row is measured. */
  seconds: number;
  /** The numbers of concurrent scans, each for one row of throughput. */
  concurrency: readonly number[];
  /** Seconds to wait before memory is read for the last time. */
  rest: number;
  /** Called with the name of each row before it is measured. */
  onRow: (name: string) => void;
}

/** The kinds of texts, in the order of the rows. */
export const KINDS = ["prompt", "output", "conversation"] as const;
type Kind = (typeof KINDS)[number];

const ALL_SCANNERS = "all scanners";

/**
 * Measures a configuration: each scanner and each list by three clocks, the lists at each concurrency, and the memory of this process.
 *
 * @throws UsageError if the configuration checks none of the texts.
 */
export async function measureConfig(path: string, texts: Texts, options: BenchOptions): Promise<Figures> {
  const before = process.memoryUsage.rss();
  const suite = await Suite.fromConfig(path);
  try {
    const { input, output } = suite.lists;
    const lists = { prompt: input, output, conversation: input };
    const kinds = KINDS.filter((kind) => texts[kind].length > 0 && lists[kind].length > 0);
    if (kinds.length === 0) throw new UsageError(`${path} has no scanners for these texts`);
    options.onRow("the time to load models");
    for (const scanner of new Set(kinds.flatMap((kind) => lists[kind]))) await scanner.load?.();
    const loaded = process.memoryUsage.rss();
    const figures: Figures = { clocks: [], throughput: [] };
    for (const kind of kinds) {
      if (kind !== "conversation") figures.clocks.push(...(await scannerRows(kind, lists[kind], texts, options)));
      const { clocks, throughput } = await listRows(kind, suite, texts, options);
      figures.clocks.push(clocks);
      figures.throughput.push(...throughput);
    }
    options.onRow("memory after a rest");
    await sleep(options.rest * 1000);
    const peak = process.resourceUsage().maxRSS * 1024;
    return { ...figures, memory: { before, loaded, peak, rested: process.memoryUsage.rss() } };
  } finally {
    await suite.close();
  }
}

/** Measures each scanner of a list alone. */
async function scannerRows(
  kind: "prompt" | "output",
  scanners: readonly Scanner[],
  texts: Texts,
  { seconds, onRow }: BenchOptions,
): Promise<ClockRow[]> {
  const rows: ClockRow[] = [];
  for (const scanner of scanners) {
    onRow(scanner.name);
    const scan = (index: number) => scanAlone(scanner, numberedSubject<PromptOrOutput>(texts[kind], index));
    rows.push({ texts: kind, name: scanner.name, ...(await clocked(scan, texts[kind].length, seconds)) });
  }
  return rows;
}

/** Measures all scanners of a list together, one text after another and at each concurrency. */
async function listRows(
  kind: Kind,
  suite: Suite,
  texts: Texts,
  { seconds, concurrency, onRow }: BenchOptions,
): Promise<{ clocks: ClockRow; throughput: ThroughputRow[] }> {
  const subjects: readonly Subject[] = texts[kind];
  const row = { texts: kind, name: ALL_SCANNERS };
  const judge = (index: number) => suite.judge(numberedSubject(subjects, index));
  onRow(ALL_SCANNERS);
  const clocks = await clocked(async (index) => (await judge(index)).engineTiming, subjects.length, seconds);
  const throughput: ThroughputRow[] = [];
  for (const concurrent of concurrency) {
    onRow(`${ALL_SCANNERS}, ${concurrent} at the same time`);
    const timing = await timed(judge, { seconds, concurrency: concurrent });
    throughput.push({ ...row, concurrency: concurrent, ...timing });
  }
  return { clocks: { ...row, ...clocks }, throughput };
}

type PromptOrOutput = Texts["prompt"][number] | Texts["output"][number];

async function scanAlone(scanner: Scanner, subject: PromptOrOutput): Promise<ModelTimings> {
  const answers = new AnswerCache();
  const context = { vault: new Vault(), answers, ...(subject.kind === "output" ? { prompt: subject.prompt } : {}) };
  await scanner.scan(subject.text, context);
  return answers.timings;
}
