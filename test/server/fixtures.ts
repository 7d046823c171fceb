import { fileURLToPath } from "node:url";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { Engine } from "../../src/models/engine.ts";
import {
  type Finding,
  passed,
  type ScanContext,
  type Scanner,
  type Verdict,
  wholeText,
} from "../../src/scan/scanner.ts";
import { createServer, type ScannerLists } from "../../src/server/index.ts";

/** A scanner that finds a word, and optionally replaces it. */
export function wordScanner(
  word: string,
  options: Partial<Scanner> & { replacement?: string; score?: number } = {},
): Scanner {
  const { replacement, score = 1, ...rest } = options;
  return {
    type: "Word",
    name: "Word",
    sanitizes: replacement !== undefined,
    async scan(text: string): Promise<Verdict> {
      const start = text.indexOf(word);
      if (start < 0) return passed(text);
      const finding: Finding = { start, end: start + word.length, type: "word", text: word, score: 1 };
      const sanitized = replacement === undefined ? {} : { sanitized: text.replaceAll(word, replacement) };
      return { isValid: false, score, findings: [finding], coverage: wholeText(text), ...sanitized };
    },
    ...rest,
  };
}

/** A PromptInjection scanner whose probability is in the text: `p=0.6`. */
export function injectionScanner(
  options: Partial<Scanner> = {},
): Scanner & { detect(text: string): Promise<{ score: number }> } {
  const probability = (text: string) =>
    Math.max(0, ...[...text.matchAll(/p=([\d.]+)/g)].map(([, value]) => Number(value)));
  return {
    type: "PromptInjection",
    name: "PromptInjection",
    sanitizes: false,
    conversation: { window: true, sources: ["user", "tool"] },
    detect: async (text) => ({ score: probability(text) }),
    async scan(text) {
      const isValid = probability(text) <= 0.92;
      return { isValid, score: isValid ? -0.5 : 0.5, findings: [], coverage: wholeText(text) };
    },
    ...options,
  };
}

/** A scanner of PromptInjection's kind whose texts with `p=0.6` to `p=0.9` need a review. */
export function reviewingScanner(options: Partial<Scanner> = {}): Scanner {
  return {
    ...injectionScanner(),
    reviewThreshold: 0.5,
    async scan(text) {
      const [, value = "0"] = /p=(0\.\d+)/.exec(text) ?? [];
      const probability = Number(value);
      const isValid = probability <= 0.9;
      return { ...passed(text), isValid, score: isValid ? -0.5 : 0.5, probability };
    },
    ...options,
  };
}

/** A scanner whose `scan` does something other than judging, such as throwing an error. */
export function scannerOf(
  name: string,
  scan: (text: string, context: ScanContext) => Promise<Verdict>,
  more: Partial<Scanner> = {},
): Scanner {
  return { type: name, name, sanitizes: false, scan, ...more };
}

/** Scanners that call the same small model and pass. They share its answer. */
export function askingScanners(...names: string[]): Scanner[] {
  const engine = new Engine();
  onTestFinished(() => engine.close());
  const model = engine.model(fileURLToPath(new URL("../fixtures/two-heads", import.meta.url)));
  return names.map((name) =>
    scannerOf(name, async (text, { signal, answers }) => {
      await model.classify(text, { strategy: "windows" }, { signal, answers });
      return passed(text);
    }),
  );
}

/** A scanner that waits until it is released or, if `heeds` is true, aborted. */
export function waitingScanner({ heeds = true }: { heeds?: boolean } = {}) {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let start: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  let abort: () => void = () => {};
  const aborted = new Promise<void>((resolve) => {
    abort = resolve;
  });
  const scanner = scannerOf("Waiting", (text, { signal }) => {
    start();
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => {
        abort();
        if (heeds) reject(signal.reason);
      });
      released.then(() => resolve(passed(text)));
    });
  });
  return { scanner, started, aborted, release };
}

/** Stops the clock of `performance.now()` for this test; `advance` moves it. Timers run as usual. */
export function standingClock(): { advance(milliseconds: number): void } {
  let now = performance.now();
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => spy.mockRestore());
  return {
    advance: (milliseconds) => {
      now += milliseconds;
    },
  };
}

/** A server under test, its log, and shorthands for requests. */
export interface TestServer {
  app: FastifyInstance;
  log: string[];
  get(url: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  post(url: string, payload: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
}

/** Starts a server that closes with the test. */
export async function testServer(scanners: Partial<ScannerLists> = {}, config: ConfigInput = {}): Promise<TestServer> {
  const server = await startServer(scanners, config);
  onTestFinished(() => server.app.close());
  return server;
}

/** Starts a server that several tests share. The caller closes its `app`. */
export async function startServer(scanners: Partial<ScannerLists> = {}, config: ConfigInput = {}): Promise<TestServer> {
  const log: string[] = [];
  const app = await createServer({
    config: {
      ...config, // Tests wait for what a busy machine takes long for.
      app: { logLevel: "trace", maxQueueTime: 600, ...config.app },
    },
    scanners,
    logger: { write: (line) => log.push(line) },
  });
  await app.ready();
  // Loading runs in the background. Scanners without load() are ready after the self-test of the addon.
  for (let turn = 0; turn < 200 && !log.some((line) => line.includes('"msg":"ready"')); turn++) {
    await new Promise(setImmediate);
  }
  return {
    app,
    log,
    get: (url, headers = {}) => app.inject({ method: "GET", url, headers }),
    post: (url, payload, headers = {}) =>
      app.inject({ method: "POST", url, headers, payload: payload as NonNullable<InjectOptions["payload"]> }),
  };
}

export const JSON_TYPE = { "content-type": "application/json" };
