import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { passed } from "../../../src/scan/scanner.ts";
import { BanSubstrings } from "../../../src/scanners/generated/input-scanners.ts";
import { Admission } from "../../../src/service/admission/admission.ts";
import { coverageReply } from "../../support/coverage-reply.ts";
import { injectionScanner, scannerOf, testServer, wordScanner } from "../fixtures.ts";

describe("prompts", () => {
  const input = [wordScanner("secret", { replacement: "***" }), wordScanner("***", { name: "Stars" })];

  it.each(["/analyze/prompt", "/analyze/scan"])("POST %s returns rewritten texts", async (url) => {
    const { post } = await testServer({ input });
    const reply = await post(url, { prompt: "a secret" });
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({ sanitized_prompt: "a ***", is_valid: false, scanners: { Word: 1, Stars: 1 } });
  });

  it("POST /scan/prompt judges the text as it is", async () => {
    const { post } = await testServer({ input });
    const reply = await post("/scan/prompt", { prompt: "a secret" });
    expect(reply.json()).toEqual({ is_valid: false, scanners: { Word: 1, Stars: -1 } });
  });

  it("passes a harmless text, and ignores unknown fields", async () => {
    const { post } = await testServer({ input });
    const reply = await post("/analyze/prompt", { prompt: "hello", colour: "red", scanners_suppress: null });
    expect(reply.json()).toEqual({ sanitized_prompt: "hello", is_valid: true, scanners: { Word: -1, Stars: -1 } });
  });

  it("stops at the first failure with scan_fail_fast", async () => {
    const { post } = await testServer({ input }, { app: { scanFailFast: true } });
    expect((await post("/analyze/prompt", { prompt: "a secret" })).json().scanners).toEqual({ Word: 1 });
  });
});

describe("outputs", () => {
  const output = [
    scannerOf("Prompt", async (text, { prompt }) => ({
      isValid: prompt === "question",
      score: -1,
      findings: [],
      coverage: { chars: text.length, scannedChars: text.length, truncated: false, windows: 1 },
    })),
    wordScanner("secret", { replacement: "***" }),
  ];

  it("POST /analyze/output passes the prompt to scanners", async () => {
    const { post } = await testServer({ output });
    const reply = await post("/analyze/output", { prompt: "question", output: "a secret" });
    expect(reply.json()).toEqual({ sanitized_output: "a ***", is_valid: false, scanners: { Prompt: -1, Word: 1 } });
  });

  it("are checked by the configured scanners if the program gives only input scanners", async () => {
    const ban = (word: string) => ({ type: "BanSubstrings", params: { substrings: [word] } });
    const { post } = await testServer(
      { input: [wordScanner("mine")] },
      { inputScanners: [ban("theirs")], outputScanners: [ban("secret")] },
    );
    const output = await post("/scan/output", { prompt: "question", output: "a secret" });
    expect(output.json()).toEqual({ is_valid: false, scanners: { BanSubstrings: 1 } });
    expect((await post("/scan/prompt", { prompt: "theirs" })).json()).toEqual({
      is_valid: true,
      scanners: { Word: -1 },
    });
  });

  it("POST /scan/output", async () => {
    const { post } = await testServer({ output });
    const reply = await post("/scan/output", { prompt: "question", output: "fine" });
    expect(reply.json()).toEqual({ is_valid: true, scanners: { Prompt: -1, Word: -1 } });
  });
});

describe("conversations", () => {
  const user = (content: unknown) => ({ role: "user", content });
  const risk = { conversation: { risk: { enabled: true } } };
  const withRisk = { ...risk, inputScanners: [{ type: "PromptInjection" }] };

  it("checks the latest message, the window, tool results and the risk", async () => {
    const { post } = await testServer({ input: [injectionScanner()] }, withRisk);
    const messages = [user("a"), user("b"), user("c"), { role: "tool", content: "p=0.99" }];
    const reply = await post("/analyze/conversation", { messages });
    expect(reply.json()).toEqual({
      sanitized_prompt: "c",
      is_valid: false,
      scanners: {
        PromptInjection: -0.5,
        "PromptInjection[window]": -0.5,
        "PromptInjection[tool]": 0.5,
        ConversationRisk: -1,
      },
    });
  });

  it("adds up the risk, with the settings of the configuration", async () => {
    const { post } = await testServer({ input: [injectionScanner()] }, withRisk);
    const messages = [user("p=0.6"), user("p=0.6 "), user("p=0.6  ")];
    const { scanners } = (await post("/scan/conversation", { messages })).json();
    expect(scanners.ConversationRisk).toBeCloseTo(0.1, 1);
    const strict = await testServer(
      { input: [injectionScanner()] },
      { conversation: { risk: { enabled: true, threshold: 5 } } },
    );
    expect((await strict.post("/scan/conversation", { messages })).json().scanners.ConversationRisk).toBeLessThan(0);
  });

  it("skips tool results and the window if disabled", async () => {
    const { post } = await testServer(
      { input: [injectionScanner()] },
      { conversation: { window: 1, scanToolMessages: false } },
    );
    const messages = [user("a"), user("b"), { role: "tool", content: "p=0.99" }];
    const reply = await post("/scan/conversation", { messages });
    expect(reply.json()).toEqual({ is_valid: true, scanners: { PromptInjection: -0.5 } });
  });

  it("reads tool results in Anthropic's format", async () => {
    const { post } = await testServer({ input: [injectionScanner()] });
    const result = { type: "tool_result", tool_use_id: "x", content: [{ type: "text", text: "p=0.99" }] };
    const { scanners } = (await post("/scan/conversation", { messages: [user("hi"), user([result])] })).json();
    expect(scanners["PromptInjection[tool]"]).toBe(0.5);
  });

  it("rewrites the latest user message only in /analyze", async () => {
    const { post } = await testServer({ input: [wordScanner("secret", { replacement: "***" })] });
    const messages = [user([{ type: "text", text: "my secret" }])];
    expect((await post("/analyze/conversation", { messages })).json().sanitized_prompt).toBe("my ***");
    expect((await post("/scan/conversation", { messages })).json()).not.toHaveProperty("sanitized_prompt");
  });

  it.each([
    [["PromptInjection"], ["ConversationRisk"]],
    [["PromptInjection[window]"], ["PromptInjection", "PromptInjection[tool]", "ConversationRisk"]],
    [["ConversationRisk"], ["PromptInjection", "PromptInjection[window]", "PromptInjection[tool]"]],
    [["PromptInjection", "ConversationRisk"], []],
  ])("skips %j", async (scanners_suppress, left) => {
    const { post } = await testServer({ input: [injectionScanner()] }, withRisk);
    const messages = [user("a"), user("b"), { role: "tool", content: "c" }];
    const reply = await post("/scan/conversation", { messages, scanners_suppress });
    expect(Object.keys(reply.json().scanners)).toEqual(left);
  });

  it("rejects scanners with the name of one of its checks", async () => {
    await expect(testServer({ output: [wordScanner("x", { name: "ConversationRisk" })] })).rejects.toMatchObject({
      path: "scanners.output.0.name",
    });
  });

  it("requires a PromptInjection scanner for the risk", async () => {
    await expect(testServer({ input: [wordScanner("x")] }, risk)).rejects.toMatchObject({
      path: "conversation.risk.enabled",
    });
  });
});

describe("suppression", () => {
  it.each([
    [["Word"], []],
    [["First"], ["Second"]],
    [["nobody"], ["First", "Second"]],
  ])("of %j leaves %j", async (scanners_suppress, left) => {
    const { post } = await testServer({
      input: [wordScanner("x", { name: "First" }), wordScanner("x", { name: "Second" })],
    });
    const reply = await post("/analyze/prompt", { prompt: "x", scanners_suppress });
    expect(Object.keys(reply.json().scanners)).toEqual(left);
  });
});

describe("details", () => {
  it("adds the probabilities of scanners that have one", async () => {
    const sure = scannerOf("Sure", async (text) => ({ ...passed(text), probability: 0.25 }));
    const { post } = await testServer({ input: [wordScanner("secret"), sure] });
    const body = (await post("/scan/prompt", { prompt: "secret", details: true })).json();
    expect(body.probabilities).toEqual({ Sure: 0.25 });
    expect((await post("/scan/prompt", { prompt: "secret" })).json()).not.toHaveProperty("probabilities");
  });

  it("adds findings, timing and coverage, in code points", async () => {
    const { post } = await testServer({ input: [wordScanner("secret")] });
    const body = (await post("/scan/prompt", { prompt: "😀😀 secret 😀", details: true })).json();
    expect(body.findings).toEqual({ Word: [{ start: 3, end: 9, type: "word", text: "secret", score: 1 }] });
    expect(body.timing.Word).toBeGreaterThanOrEqual(0);
    expect(body.coverage).toEqual(coverageReply(11));
  });

  it("names the view of a finding", async () => {
    const ban = new BanSubstrings({ substrings: ["secret"], redact: true, deobfuscate: true });
    const { post } = await testServer({ input: [ban] });
    const body = (await post("/analyze/prompt", { prompt: "😀 s3cret", details: true })).json();
    expect(body.sanitized_prompt).toBe("😀 [REDACTED]");
    expect(body.findings.BanSubstrings).toEqual([
      { start: 2, end: 8, type: "substring", text: "s3cret", score: 1, label: "secret", view: "leetspeak" },
    ]);
  });

  it("counts offsets in the text of each scanner: the window or the tool result", async () => {
    const words = wordScanner("secret", { name: "Ban", conversation: { window: true } });
    const tool = wordScanner("secret", { name: "Tool", conversation: { window: true, sources: ["user", "tool"] } });
    const { post } = await testServer({ input: [words, tool] });
    const messages = [
      { role: "user", content: "😀" },
      { role: "user", content: "😀 secret" },
      { role: "tool", content: "😀😀😀secret" },
    ];
    const { findings } = (await post("/scan/conversation", { messages, details: true })).json();
    expect(findings.Ban[0]).toMatchObject({ start: 2, end: 8 });
    expect(findings["Ban[window]"][0]).toMatchObject({ start: 4, end: 10 });
    expect(findings["Tool[tool]"][0]).toMatchObject({ start: 3, end: 9 });
  });

  it("does not claim coverage of omitted texts", async () => {
    const half = scannerOf("Half", async (text) => ({
      isValid: true,
      score: -1,
      findings: [],
      coverage: { chars: text.length, scannedChars: text.length / 2, truncated: true, windows: 1 },
    }));
    const { post } = await testServer({ input: [half] });
    const body = (await post("/scan/prompt", { prompt: "😀".repeat(10), details: true })).json();
    expect(body.coverage).toMatchObject({ chars: 10, scanned_chars: 0, truncated: true });
    const suppressed = (
      await post("/scan/prompt", { prompt: "abc", details: true, scanners_suppress: ["Half"] })
    ).json();
    expect(suppressed.coverage).toMatchObject({ chars: 3, scanned_chars: 0, suppressed: ["Half"] });
  });
});

describe("require_full_coverage", () => {
  const image = { type: "image_url", image_url: { url: "data:" } };
  const strict = { app: { requireFullCoverage: true } };

  it.each([
    ["a suppressed scanner", { messages: [{ role: "user", content: "x" }], scanners_suppress: ["Word"] }, false],
    ["a part that no scanner reads", { messages: [{ role: "user", content: ["x", image] }] }, false],
    ["nothing", { messages: [{ role: "user", content: "x" }] }, true],
  ])("is applied with %s omitted", async (_what, body, valid) => {
    const input = [wordScanner("secret"), wordScanner("secret", { type: "Other", name: "Other" })];
    expect((await (await testServer({ input }, strict)).post("/scan/conversation", body)).json().is_valid).toBe(valid);
    expect((await (await testServer({ input })).post("/scan/conversation", body)).json().is_valid).toBe(true);
  });

  it.each([
    [true, false],
    [false, true],
  ])("is applied to tool results without a scanner, with scan_tool_messages: %s", async (scanToolMessages, valid) => {
    const { post } = await testServer({ input: [wordScanner("x")] }, { ...strict, conversation: { scanToolMessages } });
    const messages = [
      { role: "user", content: "hi" },
      { role: "tool", content: "result" },
    ];
    expect((await post("/scan/conversation", { messages })).json().is_valid).toBe(valid);
  });
});

describe("callers that wait for admission", () => {
  /** The callers that the admission control receives. */
  async function turnsOf(config: ConfigInput, ...headers: Record<string, string>[]): Promise<(string | undefined)[]> {
    const entered = vi.spyOn(Admission.prototype, "admit").mockClear();
    onTestFinished(() => entered.mockRestore());
    const { post } = await testServer({ input: [wordScanner("zebra")] }, config);
    for (const header of headers) expect((await post("/scan/prompt", { prompt: "Hi" }, header)).statusCode).toBe(200);
    return entered.mock.calls.map(([{ caller }]) => caller);
  }
  const from = (address: string) => ({ "x-forwarded-for": address });

  it("are identified by address without authentication, also behind a trusted proxy", async () => {
    const addresses = [from("192.0.2.1"), from("192.0.2.2"), from("2001:db8::1"), from("2001:db8::2")];
    const trusting = { app: { trustProxy: 1 } };
    expect(await turnsOf(trusting, ...addresses)).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::", "2001:db8::"]);
    expect(new Set(await turnsOf({}, ...addresses))).toEqual(new Set(["127.0.0.1"]));
  });

  it("are identified by credential with authentication, whatever their addresses", async () => {
    const keys = (key: string, address: string) => ({ "x-api-key": key, ...from(address) });
    const auth: ConfigInput["auth"] = [{ type: "api_key", keys: ["one-key", "other-key"] }];
    const [first, second, other] = await turnsOf(
      { auth, app: { trustProxy: 1 } },
      ...[keys("one-key", "192.0.2.1"), keys("one-key", "192.0.2.2"), keys("other-key", "192.0.2.1")],
    );
    expect(first).toBe(second);
    expect(other).not.toBe(first);
  });
});
