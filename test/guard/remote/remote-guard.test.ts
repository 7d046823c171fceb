import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GuardedCall } from "../../../src/guard/guard.ts";
import { RemoteGuard, type RemoteGuardOptions } from "../../../src/guard/remote/index.ts";
import { input, output } from "../../../src/index.ts";
import type { ScannerLists } from "../../../src/server/index.ts";
import { scannerOf, waitingScanner, wordScanner } from "../../server/fixtures.ts";
import { coverageReply } from "../../support/coverage-reply.ts";
import {
  localAndRemoteGuards,
  remoteGuard,
  startFakeGuardServer,
  startGuardServer,
} from "../../support/guard-server.ts";
import { comparable } from "../../support/guards.ts";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });
const toolCall = (given: unknown) => ({
  id: "call_1",
  type: "function" as const,
  function: { name: "mail", arguments: JSON.stringify(given) },
});

const COVERAGE = coverageReply(4);
const CHECK = {
  ...{ name: "Word", scanner: "Word", type: "Word", scope: "latest", is_valid: true, outcome: "passed", score: -1 },
  ...{ timing: 0, coverage: { chars: 1, scanned_chars: 1, truncated: false, windows: 1 } },
};
const PASSED = {
  ...{ is_valid: true, outcome: "passed", checks: [CHECK], scanners: { Word: -1 } },
  ...{ findings: { Word: [] }, coverage: COVERAGE, edits: [] },
};

/** A text that must not be in any error. */
const SECRET = "hunter2-is-secret";
const CHECKS: Record<string, (call: GuardedCall) => Promise<unknown>> = {
  request: (call) => call.request(ask(SECRET)),
  texts: (call) => call.texts([SECRET]),
  answer: (call) => call.answer({ text: SECRET, toolCalls: [toolCall({ to: SECRET })] }),
  stream: async (call) => {
    const stream = call.answerStream();
    await stream.push(SECRET);
    return stream.end();
  },
};

/** The whole text of an error, with its causes. */
function said(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) parts.push(at.message, JSON.stringify(at));
  return parts.join("\n");
}

async function errorsOf(options: RemoteGuardOptions): Promise<Record<string, string>> {
  const guard = remoteGuard(options);
  const codes = await Promise.all(
    Object.entries(CHECKS).map(async ([name, check]) => {
      const error = await check(guard.call()).then(
        () => expect.fail(`${name} passed`),
        (error) => error,
      );
      expect(said(error)).not.toContain(SECRET);
      return [name, error.code];
    }),
  );
  return Object.fromEntries(codes);
}

const all = (code: string) => ({ request: code, texts: code, answer: code, stream: code });

describe("RemoteGuard", () => {
  it("replaces values in a request and restores them in the answer and in the arguments of its tool calls", async () => {
    const { url } = await startGuardServer({ input: [new input.Anonymize()], output: [new output.Deanonymize()] });
    const guard = remoteGuard({ url });
    const call = guard.call();
    const { report, request } = await call.request({ ...ask("Write to ann@example.org."), system: "Be kind." });
    expect(report).toMatchObject({ outcome: "masked", isValid: false });
    expect(request).toEqual({ ...ask("Write to [REDACTED_EMAIL_ADDRESS_1]."), system: "Be kind." });
    const fields = (user: string) => ({ messages: [], fields: { user, seed: 1, previous_response_id: "resp_1" } });
    const besides = await call.request(fields("ann@example.org"));
    expect(besides.request).toEqual(fields("[REDACTED_EMAIL_ADDRESS_1]"));
    expect(besides.report.coverage.stateElsewhere).toEqual(["previous_response_id"]);
    await call.request(ask("Write to ann@example.org."));
    const told = "I wrote to [REDACTED_EMAIL_ADDRESS_1].";
    const answer = await call.answer({ text: told, toolCalls: [toolCall({ to: "[REDACTED_EMAIL_ADDRESS_1]" })] });
    expect(answer).toMatchObject({
      report: { outcome: "passed" },
      text: "I wrote to ann@example.org.",
      toolCalls: [toolCall({ to: "ann@example.org" })],
    });
    const stream = call.answerStream();
    let text = "";
    for (const piece of told.match(/.{1,7}/g) ?? []) text += (await stream.push(piece)).text;
    const last = await stream.end();
    expect(text + last.text).toBe("I wrote to ann@example.org.");
    expect(last.report).toMatchObject({ outcome: "passed" });
    expect((await guard.call().answer({ text: told })).text).toBe(told);
  });

  it("keeps one vault for concurrent checks of a call", async () => {
    const { url } = await startGuardServer({ input: [new input.Anonymize()], output: [new output.Deanonymize()] });
    const call = remoteGuard({ url }).call();
    const names = ["ann", "bob", "cid"].map((name) => `${name}@example.org`);
    const checked = await Promise.all(names.map((name) => call.texts([name])));
    const text = checked.map(({ texts }) => texts[0]).join(" ");
    expect(new Set(text.split(" ")).size).toBe(3);
    expect((await call.answer({ text })).text).toBe(names.join(" "));
  });

  it("gives the same results as the scanners of this process", { timeout: 120_000 }, async () => {
    const scanners = (): Partial<ScannerLists> => ({
      input: [
        new input.Anonymize(),
        wordScanner("zebra", { name: "Zebra", conversation: { sources: ["user", "tool", "tool_call"] } }),
        wordScanner("lion", { name: "Lion", replacement: "cat", conversation: { sources: ["user", "tool"] } }),
      ],
      output: [new output.Deanonymize(), wordScanner("tiger", { name: "Tiger" })],
    });
    const { here, remote } = await localAndRemoteGuards(scanners);
    const word = fc.constantFrom("zebra", "lion", "tiger", "ann@example.org", "[REDACTED_EMAIL_ADDRESS_1]", "ü😀", "a");
    const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(" "));
    const message = fc.oneof(
      fc.record({ role: fc.constantFrom("user", "assistant", "system"), content: text }),
      fc.record({ role: fc.constant("user"), content: fc.tuple(text).map(([text]) => [{ type: "text", text }]) }),
      fc.record({ role: fc.constant("tool"), content: text, tool_call_id: fc.constant("call_1") }),
      fc.record({ role: fc.constant("user"), content: fc.constant([{ type: "image_url", image_url: { url: "x" } }]) }),
    );
    const tool = fc.record({ type: fc.constant("function"), function: fc.record({ name: text, description: text }) });
    const chat = fc.record(
      {
        messages: fc.array(message, { minLength: 1, maxLength: 4 }),
        tools: fc.oneof(fc.constant(null), fc.array(tool, { maxLength: 2 })),
        system: text,
      },
      { requiredKeys: ["messages"] },
    );
    const call = fc.record({
      chat,
      suppress: fc.subarray(["Zebra", "Lion", "Tiger"], { maxLength: 1 }),
      texts: fc.array(text, { maxLength: 3 }),
      answer: text,
      toolCalls: fc.option(
        fc.array(
          text.map((to) => toolCall({ to })),
          { maxLength: 2 },
        ),
        { nil: undefined },
      ),
    });
    await fc.assert(
      fc.asyncProperty(call, async ({ chat, suppress, texts, answer, toolCalls }) => {
        const [local, other] = [here, remote].map(async (guard) => {
          const call = guard.call({ suppress });
          const result = [
            await call.request(chat),
            await call.answer({ text: answer, ...(toolCalls ? { toolCalls } : {}) }),
            await call.texts(texts),
            await call.texts(texts, "tool"),
            await call.answer({ text: answer }),
          ];
          return result.map(({ report, ...checked }) => ({ ...checked, report: comparable(report) }));
        });
        expect(await other).toEqual(await local);
      }),
      { numRuns: 30 },
    );
  });

  it("sends its credential", async () => {
    const auth = [
      { type: "api_key" as const, header: "X-Guard", keys: ["key-1"] },
      { type: "http_bearer" as const, token: "token-1" },
      { type: "http_basic" as const, username: "ann", password: "pä:ss" },
    ];
    const { url } = await startGuardServer({ input: [wordScanner("bad")] }, { auth });
    const good = [
      { apiKey: "key-1", header: "x-guard" },
      { bearer: "token-1" },
      { basic: { username: "ann", password: "pä:ss" } },
    ];
    for (const credential of good) {
      const { report } = await remoteGuard({ url, credential }).call().request(ask("bad"));
      expect(report.outcome).toBe("blocked");
    }
    expect(await errorsOf({ url, credential: { apiKey: "key-1" } })).toEqual(all("GUARD_UNREACHABLE"));
    expect(await errorsOf({ url })).toEqual(all("GUARD_UNREACHABLE"));
  });

  it("runs many checks at once and reuses connections for sequential ones", async () => {
    const { url } = await startGuardServer({ input: [wordScanner("bad")] });
    const guard = remoteGuard({ url });
    const reports = await Promise.all(
      Array.from({ length: 200 }, (_, index) => guard.call().request(ask(index % 2 ? "bad" : "good"))),
    );
    expect(reports.map(({ report }) => report.isValid)).toEqual(reports.map((_, index) => index % 2 === 0));
  });

  it("converts problems of a server to errors with codes", async () => {
    const { url } = await startGuardServer({ input: [wordScanner("bad")] }, { app: { maxMessages: 1 } });
    const call = remoteGuard({ url }).call();
    await expect(call.texts(["a", "b"])).rejects.toMatchObject({ code: "GUARD_TOO_LARGE" });
    await expect(call.request({ messages: [] })).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "messages" });
    const robot = { messages: [{ role: "robot", content: SECRET }] };
    await expect(call.request(robot)).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "messages.0.role" });
    await expect(call.request({ messages: [{ role: "user", content: 1n } as never] })).rejects.toMatchObject({
      code: "GUARD_VALIDATION",
    });
    const failing = () => Promise.reject(new Error(SECRET));
    const broken = await startGuardServer({ input: [scannerOf("Broken", failing)], output: [scannerOf("B", failing)] });
    expect(await errorsOf({ url: broken.url })).toMatchObject({ request: "GUARD_UNREACHABLE" });
    const problem = (status: number) =>
      startFakeGuardServer((response) => {
        response.writeHead(status, { "content-type": "application/problem+json" });
        response.end(JSON.stringify({ status, detail: SECRET, title: SECRET }));
      });
    const codes = { 429: "GUARD_OVERLOADED", 503: "GUARD_OVERLOADED", 504: "GUARD_TIMEOUT", 413: "GUARD_TOO_LARGE" };
    for (const [status, code] of Object.entries({ ...codes, 404: "GUARD_UNREACHABLE", 422: "GUARD_VALIDATION" })) {
      expect(await errorsOf({ url: (await problem(Number(status))).url })).toEqual(all(code));
    }
  });

  it.each<[string, Parameters<typeof startFakeGuardServer>[0]]>([
    ["hangs up", (response) => response.destroy()],
    ["hangs up in the middle", (response) => response.writeHead(200).write("{", () => response.destroy())],
    ["does not answer", () => {}],
    ["does not end its answer", (response) => response.writeHead(200).write("{")],
    ["answers another status", (response) => response.writeHead(204).end()],
    ["redirects", (response) => response.writeHead(307, { location: "/" }).end()],
    ["is something else", (response) => response.end("<html>It works!</html>")],
    ["answers with the text", (response) => response.end(`${SECRET}`)],
    ["is no problem", (response) => response.writeHead(503, { "content-type": "text/html" }).end(SECRET)],
    [
      "breaks its problem",
      (response) => response.writeHead(422, { "content-type": "application/problem+json" }).end("{"),
    ],
  ])("fails closed when the server %s", async (_, answer) => {
    const { url } = await startFakeGuardServer(answer);
    const codes = Object.values(await errorsOf({ url, timeout: 300 }));
    for (const code of codes) expect(["GUARD_UNREACHABLE", "GUARD_VALIDATION"]).toContain(code);
  });

  const texts = { sanitized_prompt: "x", sanitized_messages: [{ role: "user", content: "x" }], sanitized_output: "x" };
  const documents = [{ is_valid: true, checks: [CHECK], scanners: { Word: -1 }, sanitized_text: "x" }];
  const good = { ...PASSED, ...texts, documents, sanitized_tool_calls: [toolCall({})] };

  it("accepts a valid reply", async () => {
    const { url } = await startFakeGuardServer((response) => response.end(JSON.stringify(good)));
    const { stream: _, ...checks } = CHECKS;
    for (const check of Object.values(checks)) {
      expect(await check(remoteGuard({ url }).call())).toMatchObject({ report: { outcome: "passed" } });
    }
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a list", [good]],
    ["nothing", {}],
    ["no is_valid", { ...good, is_valid: undefined }],
    ["is_valid as a text", { ...good, is_valid: "true" }],
    ["no outcome", { ...good, outcome: undefined }],
    ["an unknown outcome", { ...good, outcome: SECRET }],
    ["a contradiction", { ...good, is_valid: false }],
    ["another contradiction", { ...good, outcome: "masked" }],
    ["no coverage", { ...good, coverage: undefined }],
    ["no texts", PASSED],
    ["too few texts", { ...good, sanitized_messages: [], documents: [], sanitized_tool_calls: [] }],
    [
      "too many texts",
      {
        ...good,
        sanitized_messages: [...texts.sanitized_messages, ...texts.sanitized_messages],
        documents: [...documents, ...documents],
        sanitized_tool_calls: [toolCall({}), toolCall({})],
      },
    ],
  ])("fails closed when a reply has %s", async (_, reply) => {
    const { url } = await startFakeGuardServer((response) => response.end(JSON.stringify(reply)));
    expect(await errorsOf({ url })).toEqual(all("GUARD_UNREACHABLE"));
  });

  it("fails if no server listens, and after it is closed", async () => {
    expect(await errorsOf({ url: "http://127.0.0.1:9" })).toEqual(all("GUARD_UNREACHABLE"));
    const { scanner, started, release } = waitingScanner();
    const { url } = await startGuardServer({ input: [scanner] });
    const guard = new RemoteGuard({ url });
    const checked = expect(guard.call().request(ask("x"))).rejects.toMatchObject({ code: "GUARD_CLOSED" });
    await started;
    await guard.close();
    await checked;
    await expect(guard.call().texts(["x"])).rejects.toMatchObject({ code: "GUARD_CLOSED" });
    release();
  });

  it("ends with the signal of the call, and so does the scan on the server", async () => {
    const { scanner, started, aborted } = waitingScanner();
    const { url } = await startGuardServer({ input: [scanner] });
    const stop = new AbortController();
    const checked = remoteGuard({ url }).call({ signal: stop.signal }).request(ask("x"));
    await started;
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(checked).rejects.toBe(reason);
    await aborted;
  });

  it("retries temporary refusals up to the limit", async () => {
    let refusals = 2;
    const busy = await startFakeGuardServer((response) => {
      if (refusals-- > 0) response.writeHead(503, { "retry-after": "0" }).end();
      else response.end(JSON.stringify(good));
    });
    await remoteGuard({ url: busy.url }).call().texts(["x"]);
    expect(busy.calls()).toBe(3);
    const overloaded = await startFakeGuardServer((response) => response.writeHead(429, { "retry-after": "0" }).end());
    await expect(remoteGuard({ url: overloaded.url, retries: 1 }).call().texts(["x"])).rejects.toThrow(/429/);
    expect(overloaded.calls()).toBe(2);
    // A retry does not start if the wait is longer than the timeout.
    const starting = await startFakeGuardServer((response) => response.writeHead(503, { "retry-after": "600" }).end());
    await expect(remoteGuard({ url: starting.url }).call().texts(["x"])).rejects.toThrow(/503/);
    expect(starting.calls()).toBe(1);
    let cuts = 1;
    const cutting = await startFakeGuardServer((response) => {
      if (cuts-- > 0) response.destroy();
      else response.end(JSON.stringify(good));
    });
    await remoteGuard({ url: cutting.url }).call().texts(["x"]);
    expect(cutting.calls()).toBe(2);
  });

  it("supports a server below a path, and a custom fetch", async () => {
    const { url } = await startGuardServer({ input: [wordScanner("bad")] });
    const asked: string[] = [];
    const through: typeof fetch = (given, init) => {
      asked.push(String(given));
      return fetch(String(given).replace("/some/path/", "/"), init);
    };
    await remoteGuard({ url: `${url}/some/path`, fetch: through })
      .call()
      .texts(["x"]);
    expect(asked).toEqual([`${url}/some/path/analyze/documents`]);
  });

  it.each<[unknown, string]>([
    [{}, "url"],
    [{ url: "nowhere" }, "url"],
    [{ url: "ftp://example.org" }, "url"],
    [{ url: "http://ann:word@example.org" }, "url"],
    [{ url: "http://example.org/?a=b" }, "url"],
    [{ url: "http://example.org", credential: {} }, "credential"],
    [{ url: "http://example.org", credential: { bearer: "a\nb" } }, "credential.bearer"],
    [
      { url: "http://example.org", credential: { basic: { username: "a:b", password: "c" } } },
      "credential.basic.username",
    ],
    [{ url: "http://example.org", timeout: 0 }, "timeout"],
    [{ url: "http://example.org", retries: 1.5 }, "retries"],
    [{ url: "http://example.org", fetch: "fetch" }, "fetch"],
    [{ url: "http://example.org", key: "x" }, "key"],
  ])("reports errors in its options: %j", (options, path) => {
    expect(() => new RemoteGuard(options as RemoteGuardOptions)).toThrow(
      expect.objectContaining({ code: "GUARD_VALIDATION", path }),
    );
  });
});
