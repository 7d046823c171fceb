import { setTimeout as rest } from "node:timers/promises";
import { AnswerCache } from "../../models/call-context.ts";
import type { Scanner } from "../../scan/scanner.ts";
import { Vault } from "../../scan/vault.ts";
import { UsageError } from "../command.ts";
import { type Subject, Suite } from "../suite.ts";
import { type ByModel, clocked } from "./clocks.ts";
import type { Figures } from "./report.ts";
import type { Texts } from "./texts.ts";
import { timed } from "./timing.ts";

/** How to measure. */
export interface BenchOptions {
  /** How long each row is measured. */
  seconds: number;
  /** How many scans run at the same time, of each row of throughput. */
  concurrency: readonly number[];
  /** Seconds of rest before memory is read for the last time. */
  rest: number;
  /** Is told what is measured next. */
  onRow: (name: string) => void;
}

/** The kinds of texts, in the order in which they are measured. */
export const KINDS = ["prompt", "output", "conversation"] as const;

/**
 * Measures a configuration: each scanner and each list as a whole by three clocks, the lists at each concurrency, and the memory of
 * this process.
 *
 * @throws UsageError when the texts are of no kind that the configuration checks.
 */
export async function measureLists(
  path: string,
  texts: Texts,
  { seconds, concurrency, rest: pause, onRow }: BenchOptions,
): Promise<Figures> {
  const before = process.memoryUsage.rss();
  const figures: Figures = { clocks: [], throughput: [] };
  const suite = await Suite.fromConfig(path);
  try {
    const { input, output } = suite.lists;
    const sides = { prompt: input, output, conversation: input };
    const kinds = KINDS.filter((kind) => texts[kind].length > 0 && sides[kind].length > 0);
    if (kinds.length === 0) throw new UsageError(`${path} has no scanners for these texts`);
    onRow("how long models load");
    for (const scanner of new Set(kinds.flatMap((kind) => sides[kind]))) await scanner.load?.();
    const loaded = process.memoryUsage.rss();
    for (const kind of kinds) {
      const subjects: readonly Subject[] = texts[kind];
      if (kind !== "conversation") {
        for (const scanner of sides[kind]) {
          onRow(scanner.name);
          const clocks = await clocked(
            (index) => alone(scanner, at<Asked>(texts[kind], index)),
            subjects.length,
            seconds,
          );
          figures.clocks.push({ texts: kind, name: scanner.name, ...clocks });
        }
      }
      const name = "all scanners";
      onRow(name);
      const whole = (index: number) => suite.judge(at(subjects, index));
      const clocks = await clocked(async (index) => (await whole(index)).engineTiming, subjects.length, seconds);
      figures.clocks.push({ texts: kind, name, ...clocks });
      for (const many of concurrency) {
        onRow(`${name}, ${many} at the same time`);
        const timing = await timed(whole, { seconds, concurrency: many });
        figures.throughput.push({ texts: kind, name, concurrency: many, ...timing });
      }
    }
    onRow("memory after a rest");
    await rest(pause * 1000);
    const peak = process.resourceUsage().maxRSS * 1024;
    return { ...figures, memory: { before, loaded, peak, rested: process.memoryUsage.rss() } };
  } finally {
    await suite.close();
  }
}

type Asked = Texts["prompt"][number] | Texts["output"][number];

async function alone(scanner: Scanner, subject: Asked): Promise<ByModel> {
  const answers = new AnswerCache();
  const context = { vault: new Vault(), answers, ...(subject.kind === "output" ? { prompt: subject.prompt } : {}) };
  await scanner.scan(subject.text, context);
  return answers.timings;
}

/** The item with a number; after the last comes the first again. */
export function at<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item;
}
