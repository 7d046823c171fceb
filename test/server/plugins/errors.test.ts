import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { passed } from "../../../src/scan/scanner.ts";
import { GuardError } from "../../../src/support/errors.ts";
import { JSON_TYPE, scannerOf, standingClock, testServer, waitingScanner } from "../fixtures.ts";

const throwing = (error: unknown) => scannerOf("Broken", () => Promise.reject(error));

describe("problems", () => {
  it.each([
    ["a body that is not JSON", "/analyze/prompt", "{nope", JSON_TYPE, 400],
    ["an empty body", "/analyze/prompt", "", JSON_TYPE, 400],
    [
      "a body of another type",
      "/analyze/prompt",
      "prompt=x",
      { "content-type": "application/x-www-form-urlencoded" },
      415,
    ],
    ["plain text", "/analyze/prompt", "x", { "content-type": "text/plain" }, 415],
    ["a body that is not UTF-8", "/analyze/prompt", Buffer.from('{"prompt": "caf\xe9"}', "latin1"), JSON_TYPE, 400],
    [
      "a body that says that it is UTF-8",
      "/analyze/prompt",
      Buffer.from('{"prompt": "\xed\xa0\x80"}', "latin1"),
      { "content-type": "application/json; charset=utf-8" },
      400,
    ],
    ["an empty body of no text", "/analyze/prompt", Buffer.alloc(0), JSON_TYPE, 400],
    [
      "a body that says that it is no UTF-8",
      "/analyze/prompt",
      '{"prompt": "x"}',
      { "content-type": "application/json; charset=utf-16" },
      415,
    ],
    ["a path that is not there", "/analyze/nothing", "{}", JSON_TYPE, 404],
  ])("%s", async (_what, url, payload, headers, status) => {
    const { post } = await testServer();
    const reply = await post(url, payload, headers);
    expect(reply.statusCode).toBe(status);
    expect(reply.headers["content-type"]).toBe("application/problem+json");
    const body = reply.json();
    expect(body).toMatchObject({ type: "about:blank", status, details: null });
    expect(body.message).toBe(body.detail);
    expect(body.title).not.toBe("");
  });

  it.each([
    ["/analyze/prompt", { prompt: 5 }, "/prompt"],
    ["/analyze/prompt", {}, "/prompt"],
    ["/analyze/prompt", { prompt: null }, "/prompt"],
    ["/analyze/prompt", [], ""],
    ["/analyze/prompt", { prompt: "x", scanners_suppress: "Word" }, "/scanners_suppress"],
    ["/analyze/prompt", { prompt: "x", scanners_suppress: [1] }, "/scanners_suppress/0"],
    ["/analyze/prompt", { prompt: "x", details: "yes" }, "/details"],
    ["/analyze/output", { prompt: "x" }, "/output"],
    ["/analyze/conversation", { messages: [] }, "/messages"],
    ["/analyze/conversation", { messages: "x" }, "/messages"],
    ["/analyze/conversation", { messages: [{ role: "wizard", content: "x" }] }, "/messages/0/role"],
    ["/analyze/conversation", { messages: [{ content: "x" }] }, "/messages/0/role"],
    ["/analyze/conversation", { messages: [{ role: "user", content: 5 }] }, "/messages/0/content"],
    ["/scan/documents", {}, "/documents"],
    ["/scan/documents", { documents: ["x", 5] }, "/documents/1"],
    ["/scan/documents", { documents: [{ id: "x" }] }, "/documents/0/text"],
    ["/analyze/documents", { documents: ["x"], mask_injections: "yes" }, "/mask_injections"],
    ["/analyze/documents", { documents: ["x"], source: "page" }, "/source"],
    [
      "/analyze/conversation",
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      "/messages/0/content/0/text",
    ],
  ])("%s with %j points at %j", async (url, payload, pointer) => {
    const { post } = await testServer();
    const reply = await post(url, JSON.stringify(payload), JSON_TYPE);
    expect(reply.statusCode).toBe(422);
    const { errors, message, details } = reply.json();
    expect(errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
    expect(message).toBe("Validation failed");
    expect(details[0].loc[0]).toBe("body");
  });

  it.each([
    ["/analyze/prompt", '{"prompt": "x", "prompt": "y"}', "/prompt", "occurs more than once"],
    ["/analyze/prompt", '{"prompt": "x", "pro\\u006dpt": "y"}', "/prompt", "occurs more than once"],
    ["/beta/litellm_basic_guardrail_api", '{"a/b": [{"x": 1, "x": 2}]}', "/a~1b/0/x", "occurs more than once"],
    ["/analyze/prompt", '{"__proto__": {"x": 1}, "prompt": "x"}', "/__proto__", "has a forbidden name"],
    ["/analyze/prompt", '{"prompt": "x", "y": [1e400]}', "/y/0", "is a number that is too large"],
    ["/analyze/prompt", `{"prompt": ${"[".repeat(501)}${"]".repeat(501)}}`, "", "may have at most 500 levels"],
  ])("%s rejects ambiguous JSON", async (url, payload, pointer, detail) => {
    const { post } = await testServer({}, { dialects: ["litellm"] });
    const reply = await post(url, payload, JSON_TYPE);
    expect(reply.statusCode).toBe(422);
    expect(reply.json().errors).toEqual([{ pointer, detail }]);
  });

  it.each([
    ["a byte order mark", "\ufeff{}"],
    ["NUL", '{"prompt": "a\\u0000b"}'],
    ["half a surrogate pair", '{"prompt": "a\\ud800b"}'],
    ["many keys", `{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join()}}`],
  ])("are never internal errors, for a body with %s", async (_what, payload) => {
    const { post } = await testServer();
    expect((await post("/analyze/prompt", payload, JSON_TYPE)).statusCode).toBeOneOf([200, 422]);
  });

  it.each(["QUERY", "OPTIONS", "PUT", "PATCH", "DELETE"])(
    "return the allowed methods of a path, for %s with any body",
    async (name) => {
      const { app } = await testServer();
      const method = name as "PUT";
      for (const payload of [undefined, "", "{nope"]) {
        for (const url of ["/analyze/prompt", "/analyze/%70rompt?x=1"]) {
          const headers = payload === "" ? JSON_TYPE : {};
          const reply = await app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
          expect([reply.statusCode, reply.headers.allow]).toEqual([405, "POST"]);
        }
      }
    },
  );

  it("return the allowed methods of a path", async () => {
    const { get, app } = await testServer();
    const reply = await get("/analyze/prompt?x=1");
    expect([reply.statusCode, reply.headers.allow]).toEqual([405, "POST"]);
    const deleted = await app.inject({ method: "DELETE", url: "/healthz" });
    expect([deleted.statusCode, deleted.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("limit bodies and conversations", async () => {
    const { post } = await testServer({}, { app: { maxBodySize: 2048, maxMessages: 2 } });
    expect((await post("/analyze/prompt", { prompt: "x".repeat(3000) })).statusCode).toBe(413);
    const messages = [1, 2, 3].map(() => ({ role: "user", content: "x" }));
    const reply = await post("/analyze/conversation", { messages });
    expect(reply.statusCode).toBe(413);
    expect(reply.json().detail).toContain("2 messages");
  });

  it("limit the tool results in the messages of a conversation", async () => {
    const { post } = await testServer({}, { app: { maxMessages: 4 } });
    const status = async (results: number) => {
      const content = Array.from({ length: results }, () => ({ type: "tool_result", content: "x" }));
      const messages = [
        { role: "user", content: "hi" },
        { role: "user", content },
      ];
      const reply = await post("/scan/conversation", { messages });
      return [reply.statusCode, reply.json().detail];
    };
    expect(await status(3)).toEqual([200, undefined]);
    expect(await status(4)).toEqual([413, expect.stringContaining("4 messages")]);
  });
});

describe("a scanner that throws", () => {
  it("causes an error by default, with its name and without its message", async () => {
    const { post, log } = await testServer({ input: [throwing(new Error("CANARY"))] });
    const reply = await post("/analyze/prompt", { prompt: "x" });
    expect(reply.statusCode).toBe(500);
    expect(reply.json().detail).toBe("The scanner Broken failed.");
    expect(reply.body + log.join("")).not.toContain("CANARY");
    expect(log.join("")).toContain('"scanner":"Broken"');
  });

  it("has its stack frames in the log, without lines of its message that look like frames", async () => {
    const error = new TypeError("no such place:\n    at my home CANARY", { cause: new Error("\n    at CANARY") });
    const { post, log } = await testServer({ input: [throwing(error)] });
    await post("/analyze/prompt", { prompt: "x" });
    const { err } = log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "request failed");
    expect(err).toMatchObject({ type: "ScannerError", cause: { type: "TypeError", cause: { type: "Error" } } });
    for (const { stack } of [err, err.cause, err.cause.cause]) expect(stack).toMatch(/^( {4}at .*(\n|$))+$/);
    expect(log.join("")).not.toContain("CANARY");
  });

  it("has no stack frames in the log if they do not follow its message", async () => {
    const error = new Error("a\n    at CANARY");
    expect(error.stack).toContain("CANARY");
    error.message = "b";
    const { post, log } = await testServer({ input: [throwing(error)] });
    await post("/analyze/prompt", { prompt: "x" });
    expect(log.join("")).toContain('"cause":{"type":"Error"}');
    expect(log.join("")).not.toContain("CANARY");
  });

  it("fails the text with on_scanner_error: block", async () => {
    const { post } = await testServer({ input: [throwing(new Error("x"))] }, { app: { onScannerError: "block" } });
    const reply = await post("/analyze/prompt", { prompt: "x", details: true });
    expect(reply.json()).toMatchObject({ is_valid: false, scanners: { Broken: 1 }, coverage: { failed: ["Broken"] } });
  });

  it("never passes with an invalid result", async () => {
    const { post } = await testServer({ input: [scannerOf("Odd", async () => ({}) as never)] });
    expect((await post("/scan/prompt", { prompt: "x" })).statusCode).toBe(500);
  });

  it.each(["GUARD_OVERLOADED", "GUARD_CLOSED"] as const)("causes status 503 for %s", async (code) => {
    const { post } = await testServer({ input: [throwing(new GuardError(code, "CANARY"))] });
    const reply = await post("/analyze/prompt", { prompt: "x" });
    expect(reply.statusCode).toBe(503);
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    expect(reply.body).not.toContain("CANARY");
  });
});

describe("timeouts", () => {
  it.each([true, false])("end a scan, whether or not the scanner observes the signal (%s)", async (heeds) => {
    const { scanner, aborted } = waitingScanner({ heeds });
    const { post } = await testServer({ input: [scanner] }, { app: { scanPromptTimeout: 0.05 } });
    const reply = await post("/analyze/prompt", { prompt: "x" });
    expect(reply.statusCode).toBe(504);
    expect(reply.json().detail).toContain("0.05 s");
    await aborted;
  });

  it("are separate for outputs, and apply to conversations", async () => {
    const { scanner } = waitingScanner();
    const { post } = await testServer(
      { input: [scanner], output: [scanner] },
      { app: { scanPromptTimeout: 0.05, scanOutputTimeout: 0.1 } },
    );
    expect((await post("/scan/output", { prompt: "x", output: "y" })).json().detail).toContain("0.1 s");
    const conversation = await post("/scan/conversation", { messages: [{ role: "user", content: "x" }] });
    expect(conversation.statusCode).toBe(504);
  });

  it("cause no verdict with on_scanner_error: block", async () => {
    const { scanner } = waitingScanner();
    const { post } = await testServer(
      { input: [scanner] },
      { app: { scanPromptTimeout: 0.05, onScannerError: "block" } },
    );
    expect((await post("/analyze/prompt", { prompt: "x" })).statusCode).toBe(504);
  });
});

describe("overload", () => {
  it("rejects at once, with the seconds to wait", async () => {
    const clock = standingClock();
    const gates: (() => void)[] = [];
    let isOpen = false;
    const slow = scannerOf("Slow", async (text) => {
      if (!isOpen) await new Promise<void>((resolve) => gates.push(resolve));
      return passed(text);
    });
    const { get, post } = await testServer({ input: [slow] });
    const prompt = "x".repeat(80);
    const learnt = post("/scan/prompt", { prompt });
    await expect.poll(() => gates.length).toBe(1);
    clock.advance(3_500_000);
    gates.pop()?.();
    expect((await learnt).statusCode).toBe(200);

    const first = post("/scan/prompt", { prompt });
    await expect.poll(() => gates.length).toBe(1);
    const burst = Array.from({ length: 8 + 2 * availableParallelism() }, () => post("/scan/prompt", { prompt }));
    let answered = 0;
    for (const reply of burst) reply.then(() => answered++);
    // Only some of these run beside the first scan, and none has ended when the others are rejected.
    await expect.poll(() => gates.length + answered).toBe(1 + burst.length);
    const early = answered;
    expect(early).toBeGreaterThanOrEqual(8);
    const refused = await Promise.any(burst);
    expect(refused.statusCode).toBe(503);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(1);
    expect(refused.json().detail).toContain("too much");
    expect((await get("/metrics")).body).toMatch(/guard_shed_total\{reason="(queue_time|deadline)"\} [1-9]/);
    expect((await get("/healthz")).statusCode).toBe(200);
    // The server does not read the body of a rejected request.
    expect((await post("/scan/prompt", "no JSON".padEnd(100))).statusCode).toBe(503);
    isOpen = true;
    for (const open of gates) open();
    expect((await first).statusCode).toBe(200);
    const statuses = (await Promise.all(burst)).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 503).length).toBe(early);
  });

  it("rejects scans beyond queue_size, also while an abandoned scan is running", async () => {
    const { scanner, started, release } = waitingScanner({ heeds: false });
    const { post } = await testServer({ input: [scanner] }, { app: { queueSize: 1, scanPromptTimeout: 0.05 } });
    const first = post("/analyze/prompt", { prompt: "x" });
    await started;
    const second = await post("/analyze/prompt", { prompt: "x" });
    expect(second.statusCode).toBe(503);
    expect(second.headers["retry-after"]).toBe("1");
    expect((await first).statusCode).toBe(504);
    expect((await post("/analyze/prompt", { prompt: "x" })).statusCode).toBe(503);
    release();
    await new Promise(setImmediate);
    expect((await post("/analyze/prompt", { prompt: "x" })).statusCode).toBe(200);
  });
});
