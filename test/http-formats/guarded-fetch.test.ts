import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Guard } from "../../src/guard/guard.ts";
import { LocalGuard } from "../../src/guard/local-guard.ts";
import { type GuardedFetchOptions, guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import type { Scanner } from "../../src/scan/scanner.ts";
import { exampleGuard } from "../support/example-guard.ts";
import { serviceWith } from "../support/service.ts";

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const BASE = "https://api.example/v1";

interface Sent {
  url: string;
  init: RequestInit;
  headers: Headers;
}

/** A guarded fetch with a scripted provider, and the requests that the provider received. */
async function guarded(reply: Response | unknown, options: GuardedFetchOptions = {}, guard?: Guard) {
  const sent: Sent[] = [];
  const send = async (input: string | URL | Request, init: RequestInit = {}) => {
    sent.push({ url: String(input), init, headers: new Headers(init.headers) });
    return reply instanceof Response ? reply : Response.json(reply);
  };
  const call = guardedFetch(guard ?? (await exampleGuard()), { fetch: send as typeof fetch, ...options });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(`${BASE}${path}`, {
      method: "POST",
      headers: { ...(body instanceof FormData ? {} : { "content-type": "application/json" }), ...headers },
      body: body instanceof FormData ? body : JSON.stringify(body),
    });
  return { call, post, sent };
}

/** Replaces the address in a body by the placeholder that is sent. */
function swapped<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll(MAIL, HIDDEN));
}

const TEXT = `Write to ${MAIL}.`;
const chat = { messages: [{ role: "user", content: TEXT }] };
const choice = { choices: [{ index: 0, text: TEXT, logprobs: null, finish_reason: "stop" }] };
const message = { choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }] };
const bad = (text: string) => text.replace(TEXT, "forbidden");

/** The formats: path, request body, answer body. Every text contains the address. */
const FORMATS: [string, object, object][] = [
  ["/chat/completions", { ...chat, functions: [{ name: "f", description: TEXT }], n: 1 }, message],
  [
    "/chat/completions",
    {
      ...chat,
      tools: [{ type: "function", function: { name: "f", description: TEXT } }],
      prediction: { content: TEXT },
    },
    message,
  ],
  [
    "/chat/completions",
    { ...chat, response_format: { type: "json_schema", json_schema: { schema: { description: TEXT } } } },
    { choices: [{ message: { content: [{ type: "text", text: TEXT }], annotations: [{ title: TEXT }] } }] },
  ],
  ["/completions", { prompt: TEXT, suffix: TEXT, echo: false }, choice],
  ["/completions", { prompt: [TEXT, "Hi"] }, { choices: [choice.choices[0], choice.choices[0]] }],
  ["/responses", { input: TEXT, text: { format: { schema: { description: TEXT } } } }, { output: [], id: "1" }],
  ["/responses/input_tokens", { input: TEXT }, { input_tokens: 1 }],
  ["/embeddings", { input: TEXT, encoding_format: "float" }, { data: [{ embedding: [0.1, -1e-7], index: 0 }] }],
  ["/embeddings", { input: [TEXT, TEXT] }, { data: [] }],
  ["/moderations", { input: TEXT }, { results: [] }],
  [
    "/moderations",
    {
      input: [
        { type: "text", text: TEXT },
        { type: "image_url", image_url: { url: "https://a.example" } },
      ],
    },
    { results: [] },
  ],
  ["/images/generations", { prompt: TEXT }, { data: [{ b64_json: "AAAA", revised_prompt: TEXT }] }],
  ["/messages", { ...chat, system: TEXT }, { content: [{ type: "text", text: TEXT }] }],
  ["/messages/count_tokens", chat, { input_tokens: 1 }],
];

describe("guardedFetch", () => {
  it.each(FORMATS)("masks and restores %s", async (path, request, answer) => {
    const { post, sent } = await guarded(swapped(answer));
    const reply = await post(path, { model: "m", ...request, more: { unknown: [null, 1.5] } });
    expect(await reply.json()).toEqual(answer);
    const body = JSON.parse(sent[0]?.init.body as string);
    expect(body).toEqual(swapped({ model: "m", ...request, more: { unknown: [null, 1.5] } }));
    expect(Object.keys(body)).toEqual(["model", ...Object.keys(request), "more"]);
  });

  it.each(FORMATS)("does not send a blocked request: %s", async (path, request, answer) => {
    const { post, sent } = await guarded(answer);
    const body = JSON.parse(JSON.stringify(request).replaceAll(TEXT, bad(TEXT)));
    await expect((await post(path, body)).json()).rejects.toMatchObject({ code: "GUARD_BLOCKED" });
    const responding = await guarded(answer, { onBlocked: "respond" });
    const reply = await responding.post(path, body);
    expect(reply.status).toBe(400);
    const message = expect.stringContaining("The request was blocked by guard");
    const type = "invalid_request_error";
    expect(await reply.json()).toEqual(
      path.startsWith("/messages")
        ? { type: "error", error: { type, message } }
        : { error: { type, message, param: null, code: "content_policy_violation" } },
    );
    expect([...sent, ...responding.sent]).toEqual([]);
  });

  it("knows the paths of Azure, and any base", async () => {
    for (const url of [
      "https://a.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
      "http://127.0.0.1:1234/api/paas/v4/chat/completions/",
    ]) {
      const { call, sent } = await guarded(message);
      await call(new URL(url), { method: "post", body: JSON.stringify(chat) });
      expect(sent[0]?.url).toBe(url);
      expect(sent[0]?.init.body).toBe(JSON.stringify(swapped(chat)));
    }
  });

  it("accepts a Request, bytes and streams", async () => {
    const text = JSON.stringify(chat);
    for (const init of [
      { body: text },
      { body: new TextEncoder().encode(text) },
      { body: new Blob([text]).stream(), duplex: "half" as const },
    ]) {
      const { call, sent } = await guarded(message);
      const request = new Request(`${BASE}/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer 1", "content-length": String(text.length) },
        ...init,
      });
      await call(request);
      expect(sent[0]?.init.body).toBe(JSON.stringify(swapped(chat)));
      expect(sent[0]?.headers.get("authorization")).toBe("Bearer 1");
      expect(sent[0]?.headers.get("content-length")).toBeNull();
    }
  });

  it("sends nothing that it cannot read, unless unguarded is pass", async () => {
    const cases: [string, unknown, RegExp][] = [
      ["/files", { text: "forbidden" }, /POST \/v1\/files is not known to guard.*set unguarded to "pass"/],
      ["/embeddings", { input: [1, 2, 3] }, /^input\.0: token ids/],
      ["/embeddings", { input: [[1, 2, 3]] }, /^input\.0: token ids/],
      ["/completions", { prompt: [15_496] }, /^prompt\.0: token ids/],
    ];
    for (const [path, body, text] of cases) {
      const { post, sent } = await guarded({});
      const error = await (await post(path, body)).json().catch((error) => error);
      expect(error).toMatchObject({ code: "GUARD_VALIDATION", message: expect.stringMatching(text) });
      expect(sent).toEqual([]);
      const passing = await guarded({ choices: [] }, { unguarded: "pass" });
      await passing.post(path, body);
      expect(passing.sent[0]?.init.body).toBe(JSON.stringify(body));
    }
    const { call, post, sent } = await guarded(message, { onBlocked: "respond" });
    const zipped = await post("/chat/completions", chat, { "content-encoding": "gzip" });
    expect(zipped.status).toBe(400);
    expect((await call(`${BASE}/chat/completions`, { method: "POST", body: "{" })).status).toBe(400);
    expect((await post("/chat/completions", { messages: [] })).status).toBe(400);
    expect((await post("/chat/completions", [chat])).status).toBe(400);
    expect(sent).toEqual([]);
  });

  it("checks texts in unknown fields", async () => {
    const paths = ["/chat/completions", "/completions", "/responses", "/embeddings", "/messages"];
    for (const path of paths) {
      const { post, sent } = await guarded({ error: {} });
      const body = {
        ...chat,
        input: "Hi",
        prompt: "Hi",
        documents: [{ id: "doc 1", title: TEXT }],
        more: MAIL,
        url: "a:b",
      };
      await (await post(path, body)).text().catch(() => {});
      expect(JSON.parse(sent[0]?.init.body as string)).toMatchObject({
        documents: [{ id: "doc 1", title: swapped(TEXT) }],
        more: HIDDEN,
        url: "a:b",
      });
      const blocked = await post(path, { ...body, documents: ["This is forbidden."] });
      await expect(blocked.json()).rejects.toMatchObject({ code: "GUARD_BLOCKED" });
      expect(sent).toHaveLength(1);
    }
  });

  it("forwards requests without a body", async () => {
    const { call, sent } = await guarded({ data: [] });
    expect(await (await call(`${BASE}/models`)).json()).toEqual({ data: [] });
    await call(`${BASE}/files/file_1`, { method: "DELETE" });
    await call(`${BASE}/batches/batch_1/cancel`, { method: "POST" });
    expect(sent).toHaveLength(3);
  });

  it("checks stored answers", async () => {
    const output = (text: string) => ({ output: [{ type: "message", content: [{ type: "output_text", text }] }] });
    const stored: [string, RequestInit, (text: string) => object][] = [
      ["/responses/resp_1", {}, output],
      ["/responses/resp_1/cancel", { method: "POST" }, output],
      ["/chat/completions/chatcmpl-1", {}, (content) => ({ choices: [{ message: { content } }] })],
    ];
    for (const [path, init, answer] of stored) {
      const fine = await guarded(answer("Fine."));
      expect(await (await fine.call(`${BASE}${path}`, init)).json()).toEqual(answer("Fine."));
      const blocked = await guarded(answer("leaked"));
      await expect((await blocked.call(`${BASE}${path}`, init)).json()).rejects.toThrow("The answer was blocked");
    }
    const { call } = await guarded({ id: "resp_1", deleted: true });
    expect(await (await call(`${BASE}/responses/resp_1`, { method: "DELETE" })).json()).toMatchObject({
      deleted: true,
    });
  });

  it("corrects the headers that belong to the body", async () => {
    const reply = Response.json(swapped(message), {
      headers: { "content-length": "5", "content-encoding": "identity", etag: "1", "x-request-id": "req_1" },
    });
    const { post } = await guarded(reply);
    const { headers } = await post("/chat/completions", chat);
    expect([...headers.keys()].sort()).toEqual(["content-type", "x-request-id"]);
  });

  it("returns the errors of a provider unchanged", async () => {
    const { post } = await guarded(new Response("leaked <html>", { status: 502, headers: { "retry-after": "3" } }));
    const reply = await post("/chat/completions", chat);
    expect([reply.status, reply.headers.get("retry-after"), await reply.text()]).toEqual([502, "3", "leaked <html>"]);
  });

  it("returns no answer that it cannot read", async () => {
    const answers: [string, unknown][] = [
      ["/chat/completions", { output: "leaked" }],
      ["/chat/completions", { choices: ["leaked"] }],
      ["/chat/completions", { choices: [{ message: "leaked" }] }],
      ["/chat/completions", { choices: [{ message: [{ role: "assistant", content: "leaked" }] }] }],
      ["/chat/completions", { error: { message: "late" }, choices: ["leaked"] }],
      ["/chat/completions", new Response("leaked", { headers: { "content-type": "text/plain" } })],
      ["/completions", {}],
      ["/responses", { output: "leaked" }],
      ["/messages", { completion: "leaked" }],
    ];
    for (const [path, answer] of answers) {
      const { post } = await guarded(answer, { onBlocked: "respond" });
      const reply = await post(path, { ...chat, input: "Hi", prompt: "Hi" });
      expect([path, reply.status]).toEqual([path, 502]);
      expect(await reply.text()).not.toContain("leaked");
    }
  });

  it("does not quote the error of a scanner", async () => {
    const broken: Scanner = {
      type: "Broken",
      name: "Broken",
      sanitizes: false,
      scan: (text) => Promise.reject(new Error(`cannot read: ${text}`)),
    };
    const { service } = await serviceWith({ input: [broken] });
    const { post, sent } = await guarded(message, { onBlocked: "respond" }, new LocalGuard(service));
    const reply = await post("/chat/completions", chat);
    expect(reply.status).toBe(500);
    expect(await reply.json()).toEqual({
      error: { message: "The scanner Broken failed.", type: "api_error", param: null, code: "guard_scanner" },
    });
    expect(sent).toEqual([]);
  });

  it("rejects with the reason of the signal", async () => {
    const { call, sent } = await guarded(message);
    const stop = new AbortController();
    const reason = new Error("gone");
    stop.abort(reason);
    const init = { method: "POST", body: JSON.stringify(chat), signal: stop.signal };
    await expect(call(`${BASE}/chat/completions`, init)).rejects.toBe(reason);
    expect(sent).toEqual([]);
  });

  it("changes no text in which nothing is found", async () => {
    const texts = fc.string({ unit: "grapheme", maxLength: 60 });
    const guard = await exampleGuard();
    await fc.assert(
      fc.asyncProperty(texts, texts, fc.jsonValue(), async (prompt, answer, extra) => {
        fc.pre(!/forbidden|leaked|@/i.test(prompt + answer));
        // parseStrict rejects names that change the prototype; see test/scan/strict-json.test.ts.
        fc.pre(!/"__proto__":|"constructor":/.test(JSON.stringify(extra)));
        const request = { messages: [{ role: "user", content: prompt }], extra };
        const body = { choices: [{ index: 0, message: { content: answer, extra: null } }], extra };
        const { post, sent } = await guarded(body, {}, guard);
        const reply = await post("/chat/completions", request);
        expect(await reply.json()).toEqual(JSON.parse(JSON.stringify(body)));
        expect(sent[0]?.init.body).toBe(JSON.stringify(request));
      }),
      { numRuns: 100 },
    );
  });
});

describe("audio", () => {
  const form = (more: Record<string, string> = {}) => {
    const form = new FormData();
    form.append("file", new Blob(["RIFF"]), "a.wav");
    form.append("timestamp_granularities[]", "word");
    form.append("timestamp_granularities[]", "segment");
    for (const [key, value] of Object.entries(more)) form.append(key, value);
    return form;
  };
  const srt = (text: string) => `1\n00:00:00,000 --> 00:00:04,000\n${text}\n`;

  it("has its prompts masked, and its transcripts restored in all forms", async () => {
    // Tokens are those of the original text.
    const verbose = { text: TEXT, language: "english", segments: [{ id: 0, start: 0, text: TEXT, tokens: [] }] };
    const spoken = { ...verbose, segments: verbose.segments.map((segment) => ({ ...segment, tokens: [1] })) };
    const plain = (text: string) => new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
    const answers: [Response, unknown][] = [
      [Response.json(swapped({ text: TEXT })), { text: TEXT }],
      [Response.json(swapped(spoken)), verbose],
      [plain(swapped(srt(TEXT))), srt(TEXT)],
    ];
    for (const [answer, restored] of answers) {
      const { post, sent } = await guarded(answer);
      const reply = await post("/audio/transcriptions", form({ prompt: TEXT, model: "whisper-1" }));
      const text = await reply.text();
      expect(typeof restored === "string" ? text : JSON.parse(text)).toEqual(restored);
      const body = sent[0]?.init.body as FormData;
      expect(body.get("prompt")).toBe(swapped(TEXT));
      expect(body.getAll("timestamp_granularities[]")).toEqual(["word", "segment"]);
      expect(await (body.get("file") as File).text()).toBe("RIFF");
    }
    const { post, sent } = await guarded({ text: "leaked" });
    await expect((await post("/audio/translations", form())).json()).rejects.toMatchObject({ code: "GUARD_BLOCKED" });
    await expect((await post("/audio/translations", form({ prompt: "forbidden" }))).json()).rejects.toThrow("request");
    expect(sent).toHaveLength(1);
  });

  it("may be the bytes of a form", async () => {
    const { call, sent } = await guarded({ text: "Hi" });
    const encoded = new Response(form({ prompt: TEXT }));
    const type = encoded.headers.get("content-type") ?? "";
    const body = new Uint8Array(await encoded.arrayBuffer());
    await call(`${BASE}/audio/transcriptions`, { method: "POST", headers: { "content-type": type }, body });
    const given = sent[0]?.init.body as FormData;
    expect(given.get("prompt")).toBe(swapped(TEXT));
    expect(sent[0]?.headers.get("content-type")).toBeNull();
  });

  it("is generated from checked texts", async () => {
    const sound = new Response("ID3", { headers: { "content-type": "audio/mpeg" } });
    const { post, sent } = await guarded(sound);
    const reply = await post("/audio/speech", { model: "tts-1", input: TEXT, voice: "alloy", instructions: "Softly." });
    expect(await reply.text()).toBe("ID3");
    expect(JSON.parse(sent[0]?.init.body as string).input).toBe(swapped(TEXT));
    const blocked = await post("/audio/speech", { input: "forbidden" });
    await expect(blocked.arrayBuffer()).rejects.toMatchObject({ code: "GUARD_BLOCKED" });
  });
});
