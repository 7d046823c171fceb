import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { injectionScanner, scannerOf, startServer, type TestServer, testServer, wordScanner } from "./fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-modes-"));
afterAll(() => rmSync(folder, { recursive: true }));

const scanners = () => ({
  input: [
    wordScanner("zebra", { replacement: "horse", conversation: { sources: ["user", "tool"] } }),
    injectionScanner(),
  ],
  output: [wordScanner("zebra", { replacement: "horse" }), wordScanner("boat", { name: "Boat" })],
});

/** The fields of a reply that do not say what happens to the text. */
const verdicts = (reply: { scanners: unknown; checks: Record<string, unknown>[]; findings: unknown }) => ({
  scanners: reply.scanners,
  findings: reply.findings,
  checks: reply.checks.map(({ mode: _, timing: __, ...check }) => check),
});

const both = async (config: ConfigInput = {}) => [
  await testServer(scanners(), { ...config, app: { masking: ["Word"], ...config.app } }),
  await testServer(scanners(), { ...config, app: { masking: ["Word"], ...config.app, mode: "monitor" } }),
];

const details = { details: true };
const messages = [
  { role: "user", content: "What about p=0.95 ?" },
  { role: "assistant", content: "No." },
  { role: "user", content: "Then a zebra." },
  { role: "tool", tool_call_id: "1", content: "A zebra, p=0.99" },
];

describe("a server with app.mode: monitor", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["/analyze/prompt", { prompt: "A zebra, p=0.99" }, { sanitized_prompt: "A zebra, p=0.99" }],
    ["/analyze/output", { prompt: "", output: "A zebra in a boat." }, { sanitized_output: "A zebra in a boat." }],
    ["/analyze/conversation", { messages }, { sanitized_messages: messages, sanitized_prompt: "Then a zebra." }],
    ["/scan/prompt", { prompt: "A zebra, p=0.99" }, {}],
  ])("answers %s with the verdicts of enforce mode and unchanged texts", async (url, body, unchanged) => {
    const [enforcing, monitoring] = (await both()) as [TestServer, TestServer];
    const enforced = (await enforcing.post(url, { ...body, ...details })).json();
    const reply = (await monitoring.post(url, { ...body, ...details })).json();
    expect(verdicts(reply)).toEqual(verdicts(enforced));
    expect(enforced).toMatchObject({ is_valid: false, outcome: "blocked" });
    expect(reply).toMatchObject({ is_valid: true, outcome: "passed", ...unchanged });
    expect([...reply.would_block, ...(reply.would_mask ?? [])].toSorted()).toEqual(
      Object.keys(enforced.scanners)
        .filter((name) => enforced.scanners[name] > 0)
        .toSorted(),
    );
  });

  it("tells which checks would block and which would mask, also without details", async () => {
    const [, monitoring] = (await both()) as [TestServer, TestServer];
    const reply = (await monitoring.post("/analyze/prompt", { prompt: "A zebra, p=0.99" })).json();
    expect(reply).toEqual({
      is_valid: true,
      sanitized_prompt: "A zebra, p=0.99",
      scanners: { Word: 1, PromptInjection: 0.5 },
      would_block: ["PromptInjection"],
      would_mask: ["Word"],
    });
    const valid = (await monitoring.post("/analyze/prompt", { prompt: "A horse." })).json();
    expect(valid).not.toHaveProperty("would_block");
    expect(valid).not.toHaveProperty("would_mask");
  });

  it("returns documents unchanged", async () => {
    const [, monitoring] = (await both()) as [TestServer, TestServer];
    const documents = ["A zebra.", "A horse, p=0.99"];
    const reply = (
      await monitoring.post("/analyze/documents", { documents, mask_injections: true, ...details })
    ).json();
    expect(reply).toMatchObject({ is_valid: true, would_block: ["PromptInjection"], would_mask: ["Word"] });
    expect(reply.documents.map((document: { sanitized_text: string }) => document.sanitized_text)).toEqual(documents);
  });

  it("streams an answer unchanged, and reports at its end what would have happened", async () => {
    const [, monitoring] = (await both()) as [TestServer, TestServer];
    const text = "A zebra in a boat. It sails along the coast. ".repeat(4);
    const lines = [{ prompt: "", details: true }, ...(text.match(/.{1,9}/gs) ?? []).map((piece) => ({ text: piece }))];
    const reply = await monitoring.post(
      "/analyze/output/stream",
      lines.map((line) => JSON.stringify(line)).join("\n"),
      {
        "content-type": "application/x-ndjson",
      },
    );
    const events = reply.body
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map((event) => event.text ?? "").join("")).toBe(text);
    expect(events.at(-1)).toMatchObject({
      ...{ event: "done", is_valid: true, outcome: "passed" },
      ...{ would_block: ["Boat"], would_mask: ["Word"] },
    });
  });

  it("counts and logs what would have happened, by scanner, source and profile", async () => {
    const profiles = { strict: { app: { mode: "enforce" as const } } };
    const server = await startServer(scanners(), { app: { mode: "monitor", masking: ["Word"] }, profiles });
    await server.post("/analyze/prompt", { prompt: "A zebra, p=0.99" });
    await server.post("/analyze/output", { prompt: "", output: "A boat." });
    const metrics = (await server.get("/metrics")).body;
    expect(metrics).toContain(
      'guard_would_block_total{source="input",scanner="PromptInjection",profile="default"} 1\n',
    );
    expect(metrics).toContain('guard_would_block_total{source="output",scanner="Boat",profile="default"} 1\n');
    expect(metrics).toContain('guard_would_mask_total{source="input",scanner="Word",profile="default"} 1\n');
    const line = server.log.map((text) => JSON.parse(text)).find(({ route }) => route === "/analyze/prompt");
    expect(line).toMatchObject({ valid: true, flagged: [], would_block: ["PromptInjection"], would_mask: ["Word"] });
    const starts = server.log.map((text) => JSON.parse(text));
    expect(starts.find(({ msg }) => msg.startsWith("scanners that only monitor"))).toMatchObject({
      scanners: ["Word", "PromptInjection", "Word", "Boat"],
    });
    expect(starts.some(({ msg }) => msg.startsWith("app.mode: all scanners only monitor"))).toBe(true);
    await server.app.close();
  });

  it("records what would have happened in the audit log", async () => {
    const file = join(folder, "audit.jsonl");
    const server = await testServer(scanners(), {
      app: { mode: "monitor", masking: ["Word"] },
      audit: { to: "file", file },
    });
    await server.post("/analyze/prompt", { prompt: "A zebra, p=0.99" });
    expect(JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1) as string)).toMatchObject({
      ...{ valid: true, outcome: "passed" },
      ...{ would_block: ["PromptInjection"], would_mask: ["Word"], scores: { PromptInjection: 0.5 } },
    });
  });

  it("blocks neither for incomplete coverage nor for state elsewhere, and reports the settings", async () => {
    const app = { requireFullCoverage: true, stateful: "refuse" as const };
    const [enforcing, monitoring] = (await both({ app })) as [TestServer, TestServer];
    const body = { messages: [{ role: "user", content: "A horse." }], previous_response_id: "resp_1", ...details };
    expect((await enforcing.post("/analyze/conversation", body)).json()).toMatchObject({ outcome: "blocked" });
    expect((await monitoring.post("/analyze/conversation", body)).json()).toMatchObject({
      ...{ is_valid: true, outcome: "passed" },
      would_block: ["stateful", "require_full_coverage"],
    });
  });

  it("goes on if a scanner throws", async () => {
    const broken = scannerOf("Broken", () => Promise.reject(new Error("no")));
    const server = await testServer({ input: [broken], output: [] }, { app: { mode: "monitor" } });
    const reply = await server.post("/analyze/prompt", { prompt: "Hello!", ...details });
    expect([reply.statusCode, reply.json()]).toMatchObject([200, { is_valid: true, would_block: ["Broken"] }]);
  });
});

describe("modes in a configuration", () => {
  const config = (app: ConfigInput["app"] = {}, params = {}): ConfigInput => ({
    app,
    inputScanners: [
      { type: "BanSubstrings", name: "Zebra", mode: "monitor", params: { substrings: ["zebra"] } },
      { type: "BanSubstrings", name: "Horse", params: { substrings: ["horse"], ...params } },
    ],
    outputScanners: [],
  });
  const scan = async (server: TestServer, prompt: string, headers = {}) =>
    (await server.post("/analyze/prompt", { prompt }, headers)).json();

  it("apply to one scanner", async () => {
    const server = await testServer({}, config());
    expect(await scan(server, "A zebra.")).toMatchObject({ is_valid: true, would_block: ["Zebra"] });
    expect(await scan(server, "A horse.")).toMatchObject({ is_valid: false });
    expect(await scan(server, "A zebra, a horse.")).toMatchObject({ is_valid: false, would_block: ["Zebra"] });
  });

  it("cannot make a scanner stricter than app.mode", async () => {
    const server = await testServer({}, config({ mode: "monitor" }, { mode: "enforce" }));
    expect(await scan(server, "A horse.")).toMatchObject({ is_valid: true, would_block: ["Horse"] });
  });

  it("differ by source and by profile", async () => {
    const server = await testServer(
      {},
      {
        ...config({ mode: { user: "monitor" } }),
        profiles: { strict: { app: { mode: "enforce" } }, silent: { app: { mode: "off" } } },
      },
    );
    const of = (profile: string) => scan(server, "A horse.", { "x-guard-profile": profile });
    expect(await of("default")).toMatchObject({ is_valid: true, would_block: ["Horse"] });
    expect(await of("strict")).toMatchObject({ is_valid: false });
    expect(await of("silent")).toEqual({ is_valid: true, sanitized_prompt: "A horse.", scanners: {} });
  });

  it("are refused beside and in params, and if they are unknown", async () => {
    const twice = { type: "BanSubstrings", mode: "off" as const, params: { substrings: ["x"], mode: "monitor" } };
    await expect(testServer({}, { inputScanners: [twice] })).rejects.toThrow("mode: is given twice");
    await expect(testServer({}, { app: { mode: "watch" as never } })).rejects.toThrow("app.mode");
  });
});

describe("the dialects of other products", () => {
  it("report no monitored finding, because their clients act on findings", async () => {
    const inputScanners = [
      { type: "Anonymize", params: { recognizerConf: [], mode: "monitor" } },
      { type: "BanSubstrings", params: { substrings: ["horse"], mode: "monitor" } },
    ];
    const server = await testServer(
      {},
      { inputScanners, outputScanners: [], dialects: ["presidio", "openai", "lakera"] },
    );
    const text = "A horse wrote to ines.duarte@example.com.";
    expect((await server.post("/analyze", { text, language: "en" })).json()).toEqual([]);
    const moderated = (await server.post("/v1/moderations", { input: text })).json().results[0];
    expect(moderated).toMatchObject({ flagged: false, categories: { "guard/BanSubstrings": false } });
    const guarded = await server.post("/v2/guard", {
      messages: [{ role: "user", content: text }],
      breakdown: true,
      payload: true,
    });
    expect(guarded.json()).toMatchObject({ flagged: false, payload: [] });
    // fms and presidio have a path in common.
    const fms = await testServer({}, { inputScanners, outputScanners: [], dialects: ["fms"] });
    const body = { contents: [text], detector_params: {} };
    const detected = await fms.post("/api/v1/text/contents", body, { "detector-id": "guard" });
    expect(detected.json()).toEqual([[]]);
  });
});
