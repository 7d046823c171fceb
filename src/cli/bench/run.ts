import { cpus } from "node:os";
import { thisMachine } from "../../support/machine.ts";
import { version } from "../../support/version.ts";
import { system } from "../system.ts";
import { type BenchOptions, KINDS, measureConfig } from "./measure-config.ts";
import { measureServer } from "./measure-server.ts";
import type { BenchReport, MachineFacts, TextCount } from "./report.ts";
import { readTexts, type Texts } from "./texts.ts";

/** The configuration or the server to measure. */
export interface BenchSubject {
  /** The path of a configuration; with `header`, the address of a server. */
  subject: string;
  /** The headers of requests to a server, each `NAME: VALUE`. */
  header?: readonly string[];
  /** The path of the texts; undefined for guard's own. */
  texts: string | undefined;
}

/**
 * Measures a configuration or a server.
 *
 * @throws UsageError for texts that cannot be read or that nothing checks, and for a server that does not answer.
 */
export async function measureBench(
  { subject, header, texts: file }: BenchSubject,
  options: BenchOptions,
): Promise<BenchReport> {
  const date = new Date().toISOString();
  const texts = await readTexts(file);
  const figures =
    header === undefined
      ? await measureConfig(subject, texts, options)
      : await measureServer(subject, header, texts, options);
  return {
    guard: version,
    date,
    machine: machineFacts(),
    // The address of a server may contain a password, so only its origin is kept.
    subject: header === undefined ? subject : new URL(subject).origin,
    seconds: options.seconds,
    texts: countsOf(texts),
    ...figures,
  };
}

function machineFacts(): MachineFacts {
  const model = cpus()[0]?.model.trim();
  return {
    system: system(),
    processors: thisMachine.processors,
    ...(model ? { model } : {}),
    node: process.version,
  };
}

function countsOf(texts: Texts): TextCount[] {
  return KINDS.flatMap((kind): TextCount[] => {
    const count = texts[kind].length;
    if (count === 0) return [];
    if (kind === "conversation") return [{ texts: kind, count }];
    const characters = texts[kind].reduce((sum, { text }) => sum + text.length, 0);
    return [{ texts: kind, count, characters }];
  });
}
