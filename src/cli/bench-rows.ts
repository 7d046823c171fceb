import { buildScanners, loadConfig } from "../config/index.ts";
import { Engine } from "../models/engine.ts";
import { columns } from "../reference/layout.ts";
import type { Scanner } from "../scanner.ts";
import { isRecord } from "../support/is-record.ts";
import { Vault } from "../vault.ts";
import type { Texts } from "./bench-texts.ts";
import { UsageError } from "./command.ts";
import { type Subject, Suite } from "./suite.ts";
import { milliseconds, type Timing, type TimingOptions, timed } from "./timing.ts";

/** A row of the table: what was measured, and the figures. */
export interface BenchRow extends Timing {
  /** What was scanned. */
  texts: Subject["kind"];
  /** The name of the scanner, or `all scanners`, or the path of the server. */
  name: string;
}

type OnRow = (name: string) => void;

const KINDS = ["prompt", "output", "conversation"] as const;

/**
 * Measures each scanner of a configuration, and each list as a whole.
 *
 * @throws UsageError when the texts are of no kind that the configuration checks.
 */
export async function measureLists(
  path: string,
  texts: Texts,
  timing: TimingOptions,
  onRow: OnRow,
): Promise<BenchRow[]> {
  const config = await loadConfig(path);
  const engine = Engine.fromEnvironment();
  const rows: BenchRow[] = [];
  try {
    const lists = buildScanners(config, { engine });
    const sides = { prompt: lists.input, output: lists.output, conversation: lists.input };
    const suite = await Suite.fromConfig(path);
    try {
      for (const kind of KINDS) {
        const subjects: readonly Subject[] = texts[kind];
        if (subjects.length === 0 || sides[kind].length === 0) continue;
        if (kind !== "conversation") {
          for (const scanner of sides[kind]) {
            onRow(scanner.name);
            rows.push({ texts: kind, name: scanner.name, ...(await alone(scanner, texts[kind], timing)) });
          }
        }
        onRow("all scanners");
        const whole = await timed((index) => suite.scan(at(subjects, index), false), timing);
        rows.push({ texts: kind, name: "all scanners", ...whole });
      }
    } finally {
      await suite.close();
    }
  } finally {
    await engine.close();
  }
  if (rows.length === 0) throw new UsageError(`${path} has no scanners for these texts`);
  return rows;
}

async function alone(
  scanner: Scanner,
  texts: Texts["prompt"] | Texts["output"],
  timing: TimingOptions,
): Promise<Timing> {
  await scanner.load?.();
  return timed((index) => {
    const subject = at<Texts["prompt"][number] | Texts["output"][number]>(texts, index);
    const context = { vault: new Vault(), ...(subject.kind === "output" ? { prompt: subject.prompt } : {}) };
    return scanner.scan(subject.text, context);
  }, timing);
}

/**
 * Measures requests to a running server.
 *
 * @throws UsageError for an address or a header that cannot be used, and for a reply that is an error.
 */
export async function measureServer(
  url: string,
  header: readonly string[],
  texts: Texts,
  timing: TimingOptions,
  onRow: OnRow,
): Promise<BenchRow[]> {
  const headers = headersOf(header);
  const rows: BenchRow[] = [];
  for (const kind of KINDS) {
    const subjects: readonly Subject[] = texts[kind];
    if (subjects.length === 0) continue;
    const path = `/analyze/${kind}`;
    onRow(path);
    const address = addressOf(url, path);
    const measured = await timed((index) => post(address, headers, bodyOf(at(subjects, index))), timing);
    rows.push({ texts: kind, name: path, ...measured });
  }
  return rows;
}

function addressOf(url: string, path: string): string {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw new UsageError(`--url: expected an address such as http://127.0.0.1:8000, got ${url}`);
  }
  return `${url.replace(/\/+$/, "")}${path}`;
}

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers({ "content-type": "application/json" });
  for (const line of lines) {
    const [, name, value] = /^([^:\s]+):\s*(.+)$/.exec(line) ?? [];
    // The line may hold a secret, so it is not quoted.
    if (name === undefined || value === undefined) throw new UsageError("--header: expected NAME: VALUE");
    headers.set(name, value);
  }
  return headers;
}

async function post(address: string, headers: Headers, body: unknown): Promise<void> {
  let reply: Response;
  try {
    reply = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  } catch (error) {
    const { cause } = error as Error;
    throw new UsageError(
      `${address} does not answer: ${cause instanceof Error ? cause.message : (error as Error).message}`,
    );
  }
  const answer: unknown = await reply.json().catch(() => undefined);
  if (reply.ok) return;
  const detail = isRecord(answer) && typeof answer.detail === "string" ? `: ${answer.detail}` : "";
  throw new UsageError(`${address} answered with status ${reply.status}${detail}`);
}

function bodyOf(subject: Subject): unknown {
  switch (subject.kind) {
    case "prompt":
      return { prompt: subject.text, source: subject.source };
    case "output":
      return { prompt: subject.prompt, output: subject.text };
    case "conversation":
      return subject.chat;
    case "documents":
      return { documents: subject.documents, source: subject.source };
  }
}

function at<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item;
}

/** The rows as a table whose lines have `width` characters. */
export function benchTable(rows: readonly BenchRow[], width?: number): string {
  const cells = rows.map(({ texts, name, calls, perSecond, p50, p95, p99 }) => [
    `${texts}s`,
    name,
    perSecond >= 100 ? perSecond.toFixed(0) : perSecond.toFixed(1),
    ...[p50, p95, p99].map(milliseconds),
    String(calls),
  ]);
  const titles = ["TEXTS", "WHAT", "SCANS/S", "P50 MS", "P95 MS", "P99 MS", "SCANS"];
  return columns([titles, ...cells], { width, right: [2, 3, 4, 5, 6] });
}
