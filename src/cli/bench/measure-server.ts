import { isRecord } from "../../support/is-record.ts";
import { UsageError } from "../command.ts";
import type { Subject } from "../suite.ts";
import { clocked } from "./clocks.ts";
import { type BenchOptions, KINDS } from "./measure-config.ts";
import type { Figures } from "./report.ts";
import { numberedSubject, type Texts } from "./texts.ts";
import { timed } from "./timing.ts";

/**
 * Measures requests to a running server.
 *
 * @throws UsageError for an invalid address or header, and for an error response.
 */
export async function measureServer(
  url: string,
  header: readonly string[],
  texts: Texts,
  { seconds, concurrency, onRow }: BenchOptions,
): Promise<Figures> {
  const headers = headersOf(header);
  const figures: Figures = { clocks: [], throughput: [] };
  for (const kind of KINDS) {
    const subjects: readonly Subject[] = texts[kind];
    if (subjects.length === 0) continue;
    const name = `/analyze/${kind}`;
    const address = addressOf(url, name);
    const call = (index: number) => post(address, headers, bodyOf(numberedSubject(subjects, index)));
    onRow(name);
    const withoutModels = async (index: number) => {
      await call(index);
      return {};
    };
    // The processor time of this process is not that of the server.
    const { calls, wall } = await clocked(withoutModels, subjects.length, seconds);
    figures.clocks.push({ texts: kind, name, calls, wall });
    for (const concurrent of concurrency) {
      onRow(`${name}, ${concurrent} at the same time`);
      figures.throughput.push({
        texts: kind,
        name,
        concurrency: concurrent,
        ...(await timed(call, { seconds, concurrency: concurrent })),
      });
    }
  }
  return figures;
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
    // The header may be a secret, so the message does not quote it.
    if (name === undefined || value === undefined) throw new UsageError("--header: expected NAME: VALUE");
    headers.set(name, value);
  }
  return headers;
}

async function post(address: string, headers: Headers, body: unknown): Promise<void> {
  let response: Response;
  try {
    response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  } catch (error) {
    const { cause } = error as Error;
    throw new UsageError(
      `${address} does not answer: ${cause instanceof Error ? cause.message : (error as Error).message}`,
    );
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return;
  const detail = isRecord(answer) && typeof answer.detail === "string" ? `: ${answer.detail}` : "";
  throw new UsageError(`${address} answered with status ${response.status}${detail}`);
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
