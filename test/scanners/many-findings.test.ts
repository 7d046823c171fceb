import { describe, expect, it } from "vitest";
import { type Scanner, scanConversation, scanOutput, scanPrompt, Vault } from "../../src/index.ts";
import { sidesOf } from "../../src/scan/known-scanners.ts";
import {
  Anonymize,
  BanCompetitors,
  BanSubstrings,
  DataExfiltration,
  InvisibleText,
  Language,
  MaliciousURLs,
  Regex,
  Secrets,
} from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize, JSON as JSONScanner, Sensitive } from "../../src/scanners/generated/output-scanners.ts";

const MOST = 1000;
const COUNT = 3000;
const numbered = (part: (at: number) => string, count = COUNT) =>
  Array.from({ length: count }, (_, at) => part(at)).join("");

const mails = numbered((at) => `name${at}@mail.com `);
const tokens = numbered((at) => `password = "Tr0ub4dor&${at}x9"\n`);

/** Scans a text with a scanner of either side. */
async function scanOnItsSide(scanner: Scanner, text: string) {
  const options = { vault: new Vault() };
  if (sidesOf(scanner)?.includes("output")) {
    const { sanitizedOutput: sanitized, ...report } = await scanOutput([scanner], "Hi", text, options);
    return { sanitized, ...report };
  }
  const { sanitizedPrompt: sanitized, ...report } = await scanPrompt([scanner], text, options);
  return { sanitized, ...report };
}

describe("more findings than are reported", () => {
  it.each<[string, Scanner, string, RegExp]>([
    ["Regex", new Regex({ patterns: ["[0-9]+"], matchType: "all" }), numbered((at) => `${at} `), /\d/],
    [
      "BanSubstrings",
      new BanSubstrings({ substrings: ["zebra"], redactAll: true }),
      "A zebra. ".repeat(COUNT),
      /zebra/,
    ],
    ["BanCompetitors", new BanCompetitors({ competitors: ["Acme"] }), "Acme or not. ".repeat(COUNT), /Acme/],
    ["InvisibleText", new InvisibleText(), "a\u200b".repeat(COUNT), /\u200b/],
    ["Secrets", new Secrets(), tokens, /Tr0ub4dor/],
    ["Anonymize", new Anonymize({ recognizerConf: [] }), mails, /@/],
    ["Sensitive", new Sensitive({ recognizerConf: [], redact: true }), mails, /@/],
  ])("are counted, and all of them are redacted: %s", async (name, scanner, text, pattern) => {
    const { findings, coverage, isValid, ...report } = await scanOnItsSide(scanner, text);
    expect(isValid).toBe(false);
    expect(findings[name]).toHaveLength(MOST);
    expect(coverage.findingsOmitted).toEqual({ [name]: COUNT - MOST });
    expect(report.sanitized).not.toMatch(pattern);
    for (const { start, end, text: found } of findings[name] ?? []) {
      if (found !== undefined) expect(text.slice(start, end)).toBe(found);
    }
    expect(findings[name]?.[MOST - 1]?.end).toBeLessThan(text.length);
  });

  it("keep their offsets", async () => {
    const text = "😀 zebra. ".repeat(COUNT);
    const scanner = new BanSubstrings({ substrings: ["zebra"], redactAll: true });
    const { findings, coverage } = await scanPrompt([scanner], text);
    expect(coverage.findingsOmitted).toEqual({ BanSubstrings: COUNT - MOST });
    const last = findings.BanSubstrings?.at(-1) as { start: number; end: number };
    expect(text.slice(last.start, last.end)).toBe("zebra");
    expect(last.start).toBe((MOST - 1) * 10 + 3);
  });

  it("all count for a verdict that depends on all of them", async () => {
    const scanner = new BanSubstrings({ substrings: ["zebra", "falcon"], containsAll: true, redactAll: true });
    const { isValid } = await scanPrompt([scanner], `${"A zebra. ".repeat(COUNT)} A falcon.`);
    expect(isValid).toBe(false);
  });

  it("are all restored", async () => {
    const vault = new Vault();
    const { sanitizedPrompt } = await scanPrompt([new Anonymize({ recognizerConf: [] })], mails, { vault });
    expect(vault.size).toBe(COUNT);
    const { sanitizedOutput, findings } = await scanOutput([new Deanonymize()], "Hi", sanitizedPrompt, { vault });
    expect(sanitizedOutput).toBe(mails);
    expect(findings.Deanonymize).toHaveLength(MOST);
  });

  it("are added up over scanners of the calling program", async () => {
    const scanner: Scanner = {
      ...{ type: "Own", name: "Own", sanitizes: false },
      scan: async (text) => ({
        ...{ isValid: false, score: 1 },
        findings: Array.from({ length: COUNT }, () => ({ start: 0, end: text.length, type: "own", text, score: 1 })),
        coverage: { chars: text.length, scannedChars: text.length, truncated: false, windows: 1 },
      }),
    };
    const { findings, coverage } = await scanPrompt([scanner], "x".repeat(1000));
    expect(findings.Own).toHaveLength(MOST);
    expect(coverage.findingsOmitted).toEqual({ Own: COUNT - MOST });
    // The quoted texts are limited too, so that a report is never many times larger than its text.
    expect(findings.Own?.filter(({ text }) => text !== undefined)).toHaveLength(65);
  });

  it("are absent in an ordinary text", async () => {
    const { coverage } = await scanPrompt([new Secrets(), new Anonymize({ recognizerConf: [] })], "Write to a@b.com.");
    expect(coverage.findingsOmitted).toEqual({});
  });
});

/** Counts the turns of the event loop during some work. */
async function roundsDuring(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let goes = true;
  const next = () => {
    rounds += 1;
    if (goes) setImmediate(next);
  };
  setImmediate(next);
  await work();
  goes = false;
  return rounds;
}

describe("a long text", () => {
  // The number of turns depends on the machine. Work that blocks the event loop leaves almost none.
  it.each<[string, Scanner, string]>([
    [
      "DataExfiltration",
      new DataExfiltration({ redact: true }),
      numbered((at) => `![a](http://h${at}.example/${at}?q=1) `, 3000),
    ],
    ["MaliciousURLs", new MaliciousURLs(), numbered((at) => `http://h${at}.example/${at} `, 10_000)],
    ["Language", new Language({ validLanguages: ["en"] }), numbered((at) => `Paragraph ${at}.\n\n`, 5000)],
    ["JSON", new JSONScanner({ repair: false }), '{"a":1} '.repeat(20_000)],
    ["Anonymize", new Anonymize({ recognizerConf: [] }), numbered((at) => `name${at}@mail.com `, 10_000)],
  ])("does not block the event loop: %s", async (_, scanner, text) => {
    expect(await roundsDuring(() => scanOnItsSide(scanner, text))).toBeGreaterThan(3);
  });
});

describe("thousands of short messages", () => {
  it("do not block the event loop", async () => {
    const messages = Array.from({ length: 4000 }, (_, at) => ({
      role: "user" as const,
      content: `Message ${at}: my mail`,
    }));
    const scanners = [new InvisibleText(), new BanSubstrings({ substrings: ["zebra"] })];
    expect(await roundsDuring(() => scanConversation(scanners, messages))).toBeGreaterThan(3);
  });

  it("do not block the event loop if each is rewritten", async () => {
    const messages = Array.from({ length: 1000 }, (_, at) => ({
      role: "user" as const,
      content: `name${at}@mail.com`,
    }));
    const scanners = [new Anonymize({ recognizerConf: [] })];
    expect(await roundsDuring(() => scanConversation(scanners, messages))).toBeGreaterThan(3);
  });
});
