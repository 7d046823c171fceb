import type { Guard, GuardReport } from "../../src/guard/guard.ts";
import { LocalGuard } from "../../src/guard/local-guard.ts";
import { SOURCES } from "../../src/scan/source.ts";
import { Anonymize } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import type { StreamStep } from "../../src/stream/answer-stream.ts";
import { wordScanner } from "../server/fixtures.ts";
import { serviceWith } from "./service.ts";

/** The word that {@link testGuard} blocks in any text. */
export const FORBIDDEN = "FORBIDDEN";

/** The token that {@link testGuard} replaces in answers, and its replacement. */
export const TOKEN = "sk-token";
export const TOKEN_REPLACEMENT = "[TOKEN]";

/** The scanners of {@link testGuard}, and the sources that they scan. */
function testScanners() {
  const forbidden = () => wordScanner(FORBIDDEN, { type: "Forbidden", name: "Forbidden" });
  const token = wordScanner(TOKEN, { type: "Token", name: "Token", replacement: TOKEN_REPLACEMENT });
  const input = [new Anonymize({ entityTypes: ["EMAIL_ADDRESS"] }), forbidden()];
  const names = input.map(({ name }) => name);
  return {
    scanners: { input, output: [new Deanonymize(), token, forbidden()] },
    masking: [token.name],
    scan: Object.fromEntries(SOURCES.map((source) => [source, names])),
  };
}

/**
 * Makes a guard that replaces e-mail addresses in everything that a model reads, restores them in answers, blocks {@link FORBIDDEN}, and
 * replaces {@link TOKEN} in answers.
 */
export async function testGuard(): Promise<Guard> {
  const { scanners, masking, scan } = testScanners();
  const { service } = await serviceWith(scanners, {
    masking,
    maxMessages: 1000,
    conversation: { window: 3, scanToolMessages: true, risk: { enabled: false }, scan },
  });
  return new LocalGuard(service);
}

/** Makes the same guard on a server. */
export async function remoteTestGuard(): Promise<Guard> {
  const { scanners, masking, scan } = testScanners();
  const conversation = { scan, risk: { enabled: false } };
  // The import is lazy, because most tests need no server.
  const { startGuardServer, remoteGuard } = await import("./guard-server.ts");
  const { url } = await startGuardServer(scanners, { app: { masking }, conversation });
  return remoteGuard({ url });
}

/** A report of text that passed. */
export const PASSED: GuardReport = {
  outcome: "passed",
  isValid: true,
  checks: [],
  resultsScore: {},
  findings: {},
  coverage: {
    chars: 0,
    scannedChars: 0,
    truncated: false,
    windows: 0,
    partsSkipped: 0,
    unscannedSources: {},
    stateElsewhere: [],
    unknownFields: [],
    untrainedLanguage: {},
    findingsOmitted: {},
    suppressed: [],
    failed: [],
  },
};

/** A report without times and without fields that only a local guard has. */
export function comparable(report: GuardReport & { probabilities?: unknown }): unknown {
  const { probabilities: _, checks, ...rest } = report;
  return { ...rest, checks: checks.map(({ timing: __, edits: ___, ...check }) => check) };
}

/** A report of text that was blocked. */
export const BLOCKED: GuardReport = { ...PASSED, outcome: "blocked", isValid: false, resultsScore: { Forbidden: 1 } };

/**
 * Makes a guard that passes every request. It releases each word of an answer when the word is complete, or after `waiting` milliseconds.
 * {@link FORBIDDEN} blocks the answer.
 */
export function wordByWordGuard({ waiting }: { waiting?: number } = {}): Guard {
  const answerStream = () => {
    let held = "";
    let isBlocked = false;
    const give = (end: number): StreamStep<GuardReport> => {
      if (isBlocked) throw new Error("the answer is blocked already");
      isBlocked = held.includes(FORBIDDEN);
      if (isBlocked) return { text: "", report: BLOCKED };
      const text = held.slice(0, end);
      held = held.slice(end);
      return { text };
    };
    return {
      push: async (piece: string) => {
        held += piece;
        return give(held.lastIndexOf(" ") + 1);
      },
      flush: async () => give(held.length),
      end: async () => ({ report: PASSED, ...give(held.length) }),
      get waiting() {
        return held === "" ? undefined : waiting;
      },
    };
  };
  return {
    call: () => ({
      request: async (request) => ({ report: PASSED, request }),
      texts: async (texts) => ({ report: PASSED, texts: [...texts] }),
      answer: async ({ text, toolCalls = [] }) => ({
        report: JSON.stringify([text, toolCalls]).includes(FORBIDDEN) ? BLOCKED : PASSED,
        text,
        edits: [],
        toolCalls: [...toolCalls],
      }),
      answerStream,
    }),
    close: async () => {},
  };
}

/** Makes a guard whose calls all fail with `error`. */
export function brokenGuard(error: Error): Guard {
  const fail = () => Promise.reject(error);
  return {
    call: () => ({
      request: fail,
      texts: fail,
      answer: fail,
      answerStream: () => ({ push: fail, flush: fail, end: fail, waiting: undefined }),
    }),
    close: async () => {},
  };
}

/** Collects the items of an iterable. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const result: Item[] = [];
  for await (const item of items) result.push(item);
  return result;
}
