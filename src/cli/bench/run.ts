import { version } from "../../support/version.ts";
import { machineFacts } from "./machine.ts";
import { type BenchOptions, KINDS, measureLists } from "./measure-config.ts";
import { measureServer } from "./measure-server.ts";
import type { BenchReport, TextCount } from "./report.ts";
import { readTexts, type Texts } from "./texts.ts";

/** What to measure. */
export interface BenchSubject {
  /** The path of a configuration; with `header` the address of a server. */
  subject: string;
  /** The headers of requests to a server, each `NAME: VALUE`. */
  header?: readonly string[];
  /** The file with the texts; ordinary ones where none is named. */
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
      ? await measureLists(subject, texts, options)
      : await measureServer(subject, header, texts, options);
  return {
    guard: version,
    date,
    machine: machineFacts(),
    // An address may hold a password.
    subject: header === undefined ? subject : new URL(subject).origin,
    seconds: options.seconds,
    texts: countsOf(texts),
    ...figures,
  };
}

function countsOf(texts: Texts): TextCount[] {
  return KINDS.flatMap((kind): TextCount[] => {
    const count = texts[kind].length;
    if (count === 0) return [];
    if (kind === "conversation") return [{ texts: kind, count }];
    let characters = 0;
    for (const { text } of texts[kind]) characters += text.length;
    return [{ texts: kind, count, characters }];
  });
}
