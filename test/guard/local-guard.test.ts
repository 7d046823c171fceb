import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { blockedMessage, GuardBlockedError } from "../../src/guard/blocked-error.ts";
import type { GuardedCall, GuardReport } from "../../src/guard/guard.ts";
import { LocalGuard } from "../../src/guard/local-guard.ts";
import type { AnsweredToolCall } from "../../src/messages/conversation.ts";
import { passed, type ScanContext, type Scanner } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import { Anonymize, Regex as InputRegex, Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { BanSubstrings, Deanonymize, JSON as JSONScanner } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { serviceWith } from "../support/service.ts";

const zebra = () => new BanSubstrings({ substrings: ["zebra"] });

async function callOf(scanners: { input?: Scanner[]; output?: Scanner[] }): Promise<GuardedCall> {
  const { service } = await serviceWith(scanners);
  return new LocalGuard(service).call();
}

const toolCall = (name: string, given: unknown, id = "call_1"): AnsweredToolCall => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(given) },
});

describe("LocalGuard", () => {
  it("replaces values in a request and restores them in the answer and in the arguments of its tool calls", async () => {
    const call = await callOf({ input: [new Anonymize()], output: [new Deanonymize()] });
    const tools = [{ type: "function", function: { name: "mail", parameters: { type: "object" } } }];
    const { report, request } = await call.request({
      messages: [{ role: "user", content: "Write to ann@example.org." }],
      tools,
    });
    expect(report).toMatchObject({ outcome: "masked", isValid: false });
    expect(request).toEqual({
      messages: [{ role: "user", content: "Write to [REDACTED_EMAIL_ADDRESS_1]." }],
      tools,
    });
    const answer = await call.answer({
      text: "I wrote to [REDACTED_EMAIL_ADDRESS_1].",
      toolCalls: [toolCall("mail", { to: ["[REDACTED_EMAIL_ADDRESS_1]"], urgent: true })],
    });
    expect(answer).toMatchObject({
      report: { outcome: "passed" },
      text: "I wrote to ann@example.org.",
      toolCalls: [toolCall("mail", { to: ["ann@example.org"], urgent: true })],
    });
  });

  it("does not share a vault between calls", async () => {
    const { service } = await serviceWith({ input: [new Anonymize()], output: [new Deanonymize()] });
    const guard = new LocalGuard(service);
    await guard.call().request({ messages: [{ role: "user", content: "Write to ann@example.org." }] });
    const { text } = await guard.call().answer({ text: "[REDACTED_EMAIL_ADDRESS_1]" });
    expect(text).toBe("[REDACTED_EMAIL_ADDRESS_1]");
  });

  it("checks the arguments of tool calls with the scanners of tool calls", async () => {
    const call = await callOf({ input: [new Secrets()], output: [zebra()] });
    await call.request({ messages: [{ role: "user", content: "Log in." }] });
    const key = "AKIAIOSFODNN7EXAMPLQ";
    const { report } = await call.answer({ text: "", toolCalls: [toolCall("login", { user: "ann", key })] });
    expect(report).toMatchObject({ outcome: "blocked", resultsScore: { "Secrets[tool_call]": 1 } });
    expect(report.findings["Secrets[tool_call]"]).toMatchObject([{ text: key }]);
  });

  it("does not check the text of an answer that only calls tools", async () => {
    const call = await callOf({ output: [new JSONScanner({ requiredElements: 1 })] });
    expect((await call.answer({ text: "", toolCalls: [toolCall("a", {})] })).report.outcome).toBe("passed");
    expect((await call.answer({ text: "No JSON.", toolCalls: [toolCall("a", {})] })).report.outcome).toBe("blocked");
  });

  it("keeps arguments unchanged without findings, even if they are not JSON", async () => {
    const call = await callOf({ input: [new Secrets()], output: [new Deanonymize()] });
    const given = [toolCall("a", { x: [1, null, "é 😀"] }), toolCall("b", {}, "call_2")];
    const broken = { type: "function" as const, function: { name: "c", arguments: '{"x": "cut o' } };
    const { report, toolCalls } = await call.answer({ text: "", toolCalls: [...given, broken] });
    expect(report.outcome).toBe("passed");
    expect(toolCalls).toEqual([...given, broken]);
  });

  it("checks an answer with the prompt and the conversation that the model received", async () => {
    const seen: ScanContext[] = [];
    const watching: Scanner = {
      type: "Watching",
      name: "Watching",
      sanitizes: false,
      scan: async (text, context) => {
        seen.push(context);
        return passed(text);
      },
    };
    const call = await callOf({ input: [new Anonymize()], output: [watching] });
    await call.request({ messages: [{ role: "user", content: "I am ann@example.org." }], system: "Be kind." });
    await call.answer({ text: "Hello." });
    expect(seen[0]?.prompt).toBe("I am [REDACTED_EMAIL_ADDRESS_1].");
    expect(seen[0]?.conversation?.texts.map(({ text }) => text)).toEqual([
      "Be kind.",
      "I am [REDACTED_EMAIL_ADDRESS_1].",
    ]);
  });

  it("checks texts outside a conversation one by one, with one vault", async () => {
    const call = await callOf({ input: [new Anonymize(), new InputRegex({ patterns: ["^bad$"] })] });
    const good = await call.texts(["ann@example.org", "bob@example.org", "ann@example.org"]);
    expect(good).toMatchObject({
      report: { outcome: "masked" },
      texts: ["[REDACTED_EMAIL_ADDRESS_1]", "[REDACTED_EMAIL_ADDRESS_2]", "[REDACTED_EMAIL_ADDRESS_1]"],
    });
    expect((await call.texts(["fine", "bad"])).report.outcome).toBe("blocked");
    // Two texts that are harmless one by one are not joined.
    expect((await call.texts(["ba", "d"])).report.outcome).toBe("passed");
  });

  it("rejects an unreadable request", async () => {
    const call = await callOf({ input: [zebra()] });
    for (const messages of [1, "Hi.", null, [1], [{ role: "robot", content: "Hi." }], [{ role: "user", content: 1 }]]) {
      await expect(call.request({ messages: messages as never })).rejects.toThrow(GuardValidationError);
    }
  });

  it("keeps texts unchanged without rewriting, and accepts an earlier request", async () => {
    const { service } = await serviceWith({ input: [new Anonymize(), zebra()], output: [new Deanonymize()] });
    const judging = new LocalGuard(service).call({ rewrite: false });
    const chat = { messages: [{ role: "user", content: "😀 Ask ann@example.org for a zebra." }] };
    const { report, request } = await judging.request(chat);
    expect(request).toEqual(chat);
    expect(report.isValid).toBe(false);
    expect(report.findings.BanSubstrings).toMatchObject([{ start: 29, end: 34, text: "zebra" }]);
    expect((await judging.texts(["ann@example.org"])).texts).toEqual(["ann@example.org"]);
    const vault = new Vault([["[REDACTED_EMAIL_ADDRESS_1]", "ann@example.org"]]);
    const sent = { messages: [{ role: "user", content: "Ask [REDACTED_EMAIL_ADDRESS_1]." }] };
    const answering = new LocalGuard(service).call({ vault, sent });
    expect((await answering.answer({ text: "I ask [REDACTED_EMAIL_ADDRESS_1]." })).text).toBe("I ask ann@example.org.");
  });

  it("passes every report to its callback", async () => {
    const { service } = await serviceWith({ input: [new Anonymize()], output: [zebra()] });
    const told: string[] = [];
    const guard = new LocalGuard(service, {
      onScan: ({ side, report }) => void told.push(`${side} ${report.outcome}`),
    });
    const call = guard.call();
    await call.request({ messages: [{ role: "user", content: "I am ann@example.org." }] });
    await call.answer({ text: "A zebra." });
    const stream = call.answerStream();
    await stream.push("A horse.");
    await stream.end();
    expect(told).toEqual(["input masked", "output blocked", "output passed"]);
  });

  it("releases the text of a stream, and nothing of a blocked one", async () => {
    const call = await callOf({ output: [zebra()] });
    const shown = async (...pieces: string[]) => {
      const stream = call.answerStream();
      let text = "";
      for (const piece of pieces) {
        const step = await stream.push(piece);
        text += step.text;
        if (step.report) return { text, outcome: step.report.outcome };
      }
      const last = await stream.end();
      return { text: text + last.text, outcome: last.report?.outcome };
    };
    expect(await shown("A ho", "rse.")).toEqual({ text: "A horse.", outcome: "passed" });
    const blocked = await shown("A ze", "bra. More.");
    expect(blocked.outcome).toBe("blocked");
    expect(blocked.text).not.toContain("ze");
  });
});

describe("GuardBlockedError", () => {
  it("has findings in its report, and shows them to no logger", () => {
    const findings = { Secrets: [{ type: "secret", text: "hunter2", start: 0, end: 7, score: 1 }] };
    const error = new GuardBlockedError("answer", {
      resultsScore: { Secrets: 1 },
      checks: [],
      findings,
    } as unknown as GuardReport);
    expect(error.report.findings).toBe(findings);
    const logged = [inspect(error, { depth: 9 }), JSON.stringify(error), JSON.stringify({ ...error })];
    expect(logged.join()).not.toContain("hunter2");
    expect(logged[0]).toContain("blocked by guard: Secrets");
  });

  it("names what was blocked and the checks that failed, and quotes no text", async () => {
    const call = await callOf({ output: [zebra()] });
    const { report } = await call.answer({ text: "A zebra." });
    const error = new GuardBlockedError("answer", report);
    expect(error).toMatchObject({ code: "GUARD_BLOCKED", part: "answer", report });
    expect(error.message).toBe("The answer was blocked by guard: BanSubstrings.");
    expect(blockedMessage("request", { resultsScore: {}, checks: [] })).toBe(
      "The request was blocked by guard: incomplete coverage.",
    );
  });
});
