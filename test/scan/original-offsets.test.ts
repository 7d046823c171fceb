import { describe, expect, it } from "vitest";
import {
  applyEdits,
  createGuard,
  type Finding,
  scanConversation,
  scanDocuments,
  scanOutput,
  scanOutputStream,
  scanPrompt,
} from "../../src/index.ts";
import { SessionScanner } from "../../src/mcp/session-scanner.ts";
import { readConversation } from "../../src/messages/read-conversation.ts";
import type { Scanner } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import * as input from "../../src/scanners/generated/input-scanners.ts";
import * as output from "../../src/scanners/generated/output-scanners.ts";
import { serviceWith } from "../support/service.ts";

/** Two values that scanners replace, followed by a word that a third scanner finds. */
const TEXT =
  '👋 Write to ann@example.org 😀 or bob@example.org.\npassword = "Tr0ub4dor&3x9" 🔑 for the zebra and the 🦓.';

/** A text-only scanner: it returns the whole text instead of edits. */
const shouting: Scanner = {
  ...{ type: "Shout", name: "Shout", sanitizes: true, streaming: { reads: "spans", span: 8 } },
  async scan(text) {
    const start = text.indexOf("🔑");
    const findings = start < 0 ? [] : [{ start, end: start + 2, type: "key", text: "🔑", score: 1 }];
    const coverage = { chars: text.length, scannedChars: text.length, truncated: false, windows: 1 };
    return { isValid: start < 0, score: start < 0 ? -1 : 1, findings, coverage, sanitized: text.replace("🔑", "KEY") };
  },
};

const substrings = { substrings: ["zebra"], redact: true };
const inputs = () => [
  ...[new input.Anonymize({ recognizerConf: [] }), shouting, new input.Secrets()],
  ...[new input.BanSubstrings(substrings), new input.Regex({ patterns: ["the 🦓"], redact: false })],
];
const outputs = () => [
  ...[new output.Sensitive({ recognizerConf: [], redact: true }), shouting, new output.Secrets()],
  ...[new output.BanSubstrings(substrings), new output.Regex({ patterns: ["the 🦓"], redact: false })],
];

/** What the five scanners find in the text. */
const FOUND = ["ann@example.org", "bob@example.org", "Tr0ub4dor&3x9", "🔑", "zebra", "the 🦓"];

/** Checks that every finding quotes the text at its offsets, and returns the quotes. */
function quotes(findings: Record<string, readonly Finding[]>, textOf: (finding: Finding) => string): string[] {
  return Object.values(findings)
    .flat()
    .sort((a, b) => a.start - b.start)
    .map((finding) => {
      const found = textOf(finding).slice(finding.start, finding.end);
      if (finding.text !== undefined) expect(found).toBe(finding.text);
      return found;
    });
}

describe("offsets after rewriting scanners count in the original", () => {
  it("in scanPrompt and scanOutput, whose edits give the sanitized text", async () => {
    const prompt = await scanPrompt(inputs(), TEXT, { vault: new Vault() });
    expect(quotes(prompt.findings, () => TEXT)).toEqual(FOUND);
    expect(applyEdits(TEXT, prompt.edits)).toBe(prompt.sanitizedPrompt);
    expect(prompt.sanitizedPrompt).not.toMatch(/example\.org|Tr0ub4dor|🔑|zebra/u);
    const answer = await scanOutput(outputs(), "", TEXT);
    expect(quotes(answer.findings, () => TEXT)).toEqual(FOUND);
    expect(applyEdits(TEXT, answer.edits)).toBe(answer.sanitizedOutput);
    for (const { edits = [] } of answer.checks) {
      for (const { start, end } of edits) expect(FOUND.join(" ")).toContain(TEXT.slice(start, end));
    }
  });

  it("in streams, whatever the pieces", async () => {
    for (const length of [1, 3, 16, 200]) {
      const pieces = TEXT.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [];
      const options = { masking: ["Sensitive", "Shout", "Secrets"] };
      const stream = scanOutputStream(outputs().slice(0, 4), "", pieces, options);
      let text = "";
      for await (const part of stream) text += part;
      const { findings } = await stream.report;
      expect(quotes(findings, () => TEXT)).toEqual(FOUND.slice(0, 5));
      expect(text).not.toMatch(/example\.org|Tr0ub4dor|🔑|zebra/u);
    }
  });

  it("in documents", async () => {
    const { documents } = await scanDocuments(inputs(), [`😀 Hello. ${TEXT}`, TEXT], { vault: new Vault() });
    for (const [index, document] of documents.entries()) {
      const original = index === 0 ? `😀 Hello. ${TEXT}` : TEXT;
      expect(quotes(document.findings, () => original)).toEqual(FOUND);
      expect(applyEdits(original, document.edits)).toBe(document.sanitizedText);
    }
  });

  it("in strings of JSON in a conversation, each rewritten by itself", async () => {
    const json = JSON.stringify({ a: TEXT, list: [{ b: `😀 ${TEXT}` }] });
    const messages = [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: json },
    ];
    const scanners = inputs();
    const { findings, sanitizedMessages } = await scanConversation(scanners, messages, { scan: { tool: scanners } });
    const textOf = ({ path = "" }: Finding) => (path.endsWith("list[0].b") ? `😀 ${TEXT}` : TEXT);
    const all = Object.values(findings).flat();
    const inString = (path: string) => ({ all: all.filter((finding) => finding.path?.endsWith(`→ ${path}`)) });
    expect(quotes(inString("a"), textOf)).toEqual(FOUND);
    // The other scanners stop at their first finding.
    expect(quotes(inString("list[0].b"), textOf)).toEqual(FOUND.slice(0, 3));
    const sanitized = JSON.parse(String(sanitizedMessages[2]?.content));
    expect(JSON.stringify(sanitized)).not.toMatch(/example\.org|Tr0ub4dor/u);
    expect(sanitized.list[0].b).toMatch(/^😀 👋 Write to .* for the .* and the 🦓\.$/su);
  });

  it("in calls of createGuard", async () => {
    const guard = await createGuard({ input: inputs(), output: outputs() });
    const call = guard.call();
    const { report } = await call.request({ messages: [{ role: "user", content: TEXT }] });
    const latest = Object.entries(report.findings).filter(([name]) => !name.endsWith("[window]"));
    expect(quotes(Object.fromEntries(latest), () => TEXT)).toEqual(FOUND);
    const answer = await call.answer({ text: TEXT });
    expect(quotes(answer.report.findings, () => TEXT)).toEqual(FOUND);
    expect(applyEdits(TEXT, answer.edits)).toBe(answer.text);
    await guard.close();
  });

  it("in texts of an MCP session", async () => {
    const scanners = inputs();
    const named = Object.fromEntries(scanners.map(({ name }) => [name, name]));
    const conversation = {
      window: 1,
      scanToolMessages: true,
      scan: { tool: Object.keys(named) },
      risk: { enabled: false },
    };
    const { service } = await serviceWith({ input: scanners }, { conversation });
    const session = new SessionScanner(service, () => {});
    const [text] = readConversation({
      messages: [
        { role: "user", content: "hi" },
        { role: "tool", content: JSON.stringify({ a: "😀", b: TEXT }) },
      ],
    }).texts.slice(-1);
    const { findings } = await session.scan(text as never, {
      ...{ texts: [], mask: false, signal: new AbortController().signal },
    });
    expect(quotes(findings, () => TEXT)).toEqual(FOUND);
  });
});
