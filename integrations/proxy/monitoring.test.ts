import { describe, expect, it } from "vitest";
import { MonitoringGuard } from "../../src/guard/monitoring-guard.ts";
import { GuardError } from "../../src/support/errors.ts";
import { exampleGuard } from "../../test/support/example-guard.ts";
import { upstreamForTests } from "../../test/support/upstream.ts";
import { startedProxy } from "./started.ts";

const upstream = upstreamForTests();

const ask = (content: string, more: object = {}) => ({ model: "gpt", messages: [{ role: "user", content }], ...more });
const answerOf = (content: string) => ({
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
});
const post = (url: string, body: unknown) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const events = (...texts: string[]) => [
  ...texts.map((content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`),
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  "data: [DONE]\n\n",
];
const streamedText = (body: string) =>
  [...body.matchAll(/^data: (\{.*)$/gm)]
    .map(([, json]) => JSON.parse(json as string).choices[0]?.delta.content ?? "")
    .join("");

const PROMPT = "forbidden words for ann@example.com";

/** Proxies whose own scanners monitor, and whose guard enforces but whose verdicts are only reported. */
const GUARDS = [
  ["its own scanners", () => exampleGuard({ mode: "monitor" })],
  ["another guard", async () => new MonitoringGuard(await exampleGuard())],
] as const;

describe.each(GUARDS)("a proxy that only monitors with %s", (_, makeGuard) => {
  it("forwards requests and answers unchanged, and names the checks in headers and in the log", async () => {
    const proxy = await startedProxy(upstream.url, { guard: await makeGuard() });
    upstream.answers = [{ json: answerOf("It has leaked to [REDACTED_EMAIL_ADDRESS_1].") }];
    const reply = await post(proxy.url, ask(PROMPT));
    expect([reply.status, await reply.json()]).toEqual([200, answerOf("It has leaked to [REDACTED_EMAIL_ADDRESS_1].")]);
    expect(upstream.received[0]?.json).toEqual(ask(PROMPT));
    expect(reply.headers.get("x-guard-would-block")).toContain("BanSubstrings");
    await proxy.close();
    expect(proxy.calls()[0]).toMatchObject({ outcome: "passed", flagged: [] });
    expect(proxy.calls()[0]?.would_block).toContain("BanSubstrings");
  });

  it("streams answers whole", async () => {
    const proxy = await startedProxy(upstream.url, { guard: await makeGuard() });
    upstream.answers = [{ pieces: events("It has ", "leaked", " again, ", "and goes on."), headers: {} }];
    const reply = await post(proxy.url, ask("Hi", { stream: true }));
    expect(streamedText(await reply.text())).toBe("It has leaked again, and goes on.");
    await proxy.close();
    expect(proxy.calls()[0]).toMatchObject({ outcome: "passed", would_block: ["BanSubstrings"] });
  });

  it("has no headers for calls that pass", async () => {
    const proxy = await startedProxy(upstream.url, { guard: await makeGuard() });
    upstream.answers = [{ json: answerOf("Fine.") }];
    const { headers } = await post(proxy.url, ask("Hi"));
    expect([headers.get("x-guard-would-block"), headers.get("x-guard-would-mask")]).toEqual([null, null]);
  });
});

describe("a proxy that only monitors with a guard that cannot check", () => {
  it("forwards the call unchecked, and says so", async () => {
    const failing = async () => {
      throw new GuardError("GUARD_OVERLOADED", "Too much waits.");
    };
    const stream = { push: failing, flush: failing, end: failing, waiting: undefined };
    const broken = { request: failing, texts: failing, answer: failing, answerStream: () => stream };
    const guard = new MonitoringGuard({ call: () => broken, close: async () => {} });
    const proxy = await startedProxy(upstream.url, { guard });
    upstream.answers = [{ json: answerOf("Hi.") }, { pieces: events("Hi", " there."), headers: {} }];
    const reply = await post(proxy.url, ask(PROMPT));
    expect([reply.status, await reply.json()]).toEqual([200, answerOf("Hi.")]);
    expect(reply.headers.get("x-guard-would-block")).toBe("unchecked");
    const streamed = await post(proxy.url, ask(PROMPT, { stream: true }));
    expect(streamedText(await streamed.text())).toBe("Hi there.");
  });
});
