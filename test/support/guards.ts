import type { Guard, GuardReport, StreamStep } from "../../src/guard/guard.ts";
import { ServiceGuard } from "../../src/guard/service-guard.ts";
import { SOURCES } from "../../src/scan/source.ts";
import { Anonymize, Deanonymize } from "../../src/scanners/generated/scanners.ts";
import { wordScanner } from "../server/fixtures.ts";
import { serviceWith } from "./service.ts";

/** What {@link testGuard} blocks, wherever it stands. */
export const FORBIDDEN = "FORBIDDEN";

/** What {@link testGuard} takes out of answers, and what it leaves there. */
export const TOKEN = "sk-token";
export const TAKEN_OUT = "[TOKEN]";

/** The scanners of {@link testGuard}, and which of them read what. */
function testScanners() {
  const forbidden = () => wordScanner(FORBIDDEN, { type: "Forbidden", name: "Forbidden" });
  const token = wordScanner(TOKEN, { type: "Token", name: "Token", replacement: TAKEN_OUT });
  const input = [new Anonymize({ entityTypes: ["EMAIL_ADDRESS"] }), forbidden()];
  const names = input.map(({ name }) => name);
  return {
    scanners: { input, output: [new Deanonymize(), token, forbidden()] },
    masking: [token.name],
    scan: Object.fromEntries(SOURCES.map((source) => [source, names])),
  };
}

/**
 * A guard that replaces mail addresses in all that a model reads and restores them in what it answers, blocks {@link FORBIDDEN}, and
 * takes {@link TOKEN} out of answers.
 */
export async function testGuard(): Promise<Guard> {
  const { scanners, masking, scan } = testScanners();
  const { service } = await serviceWith(scanners, {
    masking,
    maxMessages: 1000,
    conversation: { window: 3, scanToolMessages: true, risk: { enabled: false }, scan },
  });
  return new ServiceGuard(service);
}

/** The same guard on a server. */
export async function remoteTestGuard(): Promise<Guard> {
  const { scanners, masking, scan } = testScanners();
  const conversation = { scan, risk: { enabled: false } };
  // Most tests need no server.
  const { listeningServer, remoteGuard } = await import("./guard-server.ts");
  const { url } = await listeningServer(scanners, { app: { masking }, conversation });
  return remoteGuard({ url });
}

/** The report on what passes. */
export const PASSED: GuardReport = {
  outcome: "passed",
  isValid: true,
  resultsScore: {},
  findings: {},
  coverage: {
    chars: 0,
    scannedChars: 0,
    truncated: false,
    windows: 0,
    partsSkipped: 0,
    unscannedSources: {},
    untrainedLanguage: {},
    findingsOmitted: {},
    suppressed: [],
    failed: [],
  },
};

/** The report on what is blocked. */
export const BLOCKED: GuardReport = { ...PASSED, outcome: "blocked", isValid: false, resultsScore: { Forbidden: 1 } };

/**
 * A guard that lets requests pass and gives out the words of an answer as soon as they have ended, or after `waiting` milliseconds.
 * {@link FORBIDDEN} ends an answer as soon as it is complete.
 */
export function wordwiseGuard({ waiting }: { waiting?: number } = {}): Guard {
  const answerStream = () => {
    let held = "";
    let isBlocked = false;
    const give = (end: number): StreamStep => {
      if (isBlocked) throw new Error("pushed to an answer that was blocked");
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
        toolCalls: [...toolCalls],
      }),
      answerStream,
    }),
    close: async () => {},
  };
}

/** A guard that cannot judge anything, because its server is away. */
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

/** Everything that an iterable gives. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const result: Item[] = [];
  for await (const item of items) result.push(item);
  return result;
}
