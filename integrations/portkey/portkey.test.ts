import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { passed } from "../../src/scan/scanner.ts";
import { Anonymize, BanSubstrings, Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { BanSubstrings as BanInOutput, Deanonymize, Regex } from "../../src/scanners/generated/output-scanners.ts";
import { createServer } from "../../src/server/index.ts";
import { scannerOf } from "../../test/server/fixtures.ts";
import { freePort } from "../../test/support/http-server.ts";
import { type ModelServer, startModelServer } from "../../test/support/model-server.ts";
import { waitUntilUp } from "../../test/support/wait-until-up.ts";

const TOKEN = "a-token-of-guard";
const GATEWAY = join(dirname(createRequire(import.meta.url).resolve("@portkey-ai/gateway/package.json")), "build");

/** A scanner that throws at a word. */
const breaking = scannerOf("Breaking", async (text) => {
  if (text.includes("break")) throw new Error("broken");
  return passed(text);
});

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of several APIs
  json: any;
}

describe("Portkey's real gateway with guard as its webhook", () => {
  let app: FastifyInstance;
  let model: ModelServer;
  let gateway: ChildProcess;
  let url: string;
  let webhook: string;

  beforeAll(async () => {
    model = await startModelServer();
    app = await createServer({
      config: {
        dialects: ["portkey"],
        auth: [{ type: "http_bearer", token: TOKEN }],
        app: { lazyLoad: true, masking: ["Regex"] },
      },
      scanners: {
        input: [new Anonymize(), new BanSubstrings({ substrings: ["zebra"] }), new Secrets(), breaking],
        output: [
          new Deanonymize(),
          new BanInOutput({ substrings: ["zebra"] }),
          new Regex({ patterns: ["\\bK-\\d{4}\\b"], matchType: "all" }),
        ],
      },
      logger: { write: () => {} },
    });
    webhook = `${await app.listen({ host: "127.0.0.1", port: 0 })}/portkey`;
    const port = await freePort();
    gateway = spawn(process.execPath, [join(GATEWAY, "start-server.js"), "--headless", `--port=${port}`], {
      detached: true,
      stdio: "ignore",
    });
    url = `http://127.0.0.1:${port}`;
    await waitUntilUp(url, gateway, { isUp: () => true });
  });

  afterAll(async () => {
    try {
      process.kill(-(gateway.pid as number), "SIGKILL");
    } catch {
      // The process has exited already.
    }
    await app?.close();
    await model?.close();
  });

  interface Ways {
    provider?: string;
    /** When the gateway calls the webhook: for the request, the answer, or both. */
    guards?: ("input_guardrails" | "output_guardrails")[];
    token?: string;
    webhookURL?: string;
  }

  async function post(path: string, body: unknown, ways: Ways = {}): Promise<Reply> {
    const { provider = "openai", guards = ["input_guardrails", "output_guardrails"], token = TOKEN } = ways;
    const check = {
      "default.webhook": {
        webhookURL: ways.webhookURL ?? webhook,
        headers: { Authorization: `Bearer ${token}` },
        timeout: 20_000,
        failOnError: true,
      },
      deny: true,
    };
    const config = { provider, api_key: "x", custom_host: `${model.url}/v1` };
    model.sent();
    const reply = await fetch(url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-portkey-config": JSON.stringify({ ...config, ...Object.fromEntries(guards.map((name) => [name, [check]])) }),
      },
      body: JSON.stringify(body),
    });
    return { status: reply.status, json: await reply.json() };
  }

  const chat = (content: unknown, ways: Ways = {}, more: object = {}) =>
    post("/v1/chat/completions", { model: "m", messages: [{ role: "user", content }], ...more }, ways);
  const said = ({ json }: Reply) => json.choices?.[0]?.message?.content;
  const upstream = () => model.sent().map(({ body }) => body);
  /** Guard's response for a call that the gateway denied. */
  const told = ({ json: { hook_results: hooks } }: Reply) =>
    [...hooks.before_request_hooks, ...hooks.after_request_hooks]
      .flatMap(({ checks }) => checks)
      .flatMap(({ verdict, data }) => (verdict ? [] : [data?.responseData?.message]));

  it("masks and restores chat, and the model receives the placeholders only", async () => {
    model.says = "I write to [REDACTED_EMAIL_ADDRESS_1].";
    const tools = [{ type: "function", function: { name: "mail", parameters: { type: "object" } } }];
    const reply = await chat("Mail ann@example.org 😀.", {}, { tools });
    expect([reply.status, said(reply)]).toEqual([200, "I write to ann@example.org."]);
    expect(upstream()).toEqual([
      { model: "m", messages: [{ role: "user", content: "Mail [REDACTED_EMAIL_ADDRESS_1] 😀." }], tools },
    ]);
    const { hook_results } = reply.json;
    expect(JSON.stringify(hook_results)).not.toContain("ann@example.org");
    expect(JSON.stringify(reply.json)).not.toContain("guard_vault");
    const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } };
    await chat([{ type: "text", text: "I am bob@example.org." }, image]);
    expect(upstream()[0].messages[0].content).toEqual([
      { type: "text", text: "I am [REDACTED_EMAIL_ADDRESS_1]." },
      image,
    ]);
  });

  it("restores the arguments of tool calls, and blocks secrets in them", async () => {
    model.says = "";
    const call = (args: string) => [
      { id: "t1", type: "function" as const, function: { name: "mail", arguments: args } },
    ];
    model.calls = call('{"to":"[REDACTED_EMAIL_ADDRESS_1]"}');
    const { json } = await chat("Mail ann@example.org.");
    expect(json.choices[0].message.tool_calls[0].function.arguments).toBe('{"to":"ann@example.org"}');
    model.calls = call('{"key":"AKIAIOSFODNN7EXAMPLQ"}');
    const denied = await chat("Log in.");
    model.calls = [];
    expect([denied.status, told(denied)]).toEqual([446, ["The answer was blocked by guard: Secrets[tool_call]."]]);
  });

  it("denies what is blocked, before and after the call of the model", async () => {
    model.says = "Hello K-1234.";
    const denied = await chat("A zebra.");
    expect([denied.status, upstream()]).toEqual([446, []]);
    expect(told(denied)[0]).toMatch(/^The request was blocked by guard: BanSubstrings/);
    expect(said(await chat("Hi."))).toBe("Hello [REDACTED].");
    expect(said(await chat("Hi.", { guards: ["output_guardrails"] }))).toBe("Hello [REDACTED].");
    model.says = "A zebra.";
    const late = await chat("Hi.");
    expect([late.status, told(late)]).toEqual([446, ["The answer was blocked by guard: BanSubstrings."]]);
    expect(JSON.stringify(late.json)).not.toContain("zebra");
    expect(said(await chat("Hi.", { guards: ["input_guardrails"] }))).toBe("A zebra.");
  });

  it("checks completions, embeddings and Anthropic's messages", async () => {
    model.says = "I write to [REDACTED_EMAIL_ADDRESS_1].";
    const masked = "Mail [REDACTED_EMAIL_ADDRESS_1].";
    const completion = await post("/v1/completions", { model: "m", prompt: "Mail ann@example.org." });
    expect(completion.json.choices[0].text).toBe("I write to ann@example.org.");
    expect(upstream()).toEqual([{ model: "m", prompt: masked }]);
    const embedding = await post("/v1/embeddings", { model: "m", input: ["Mail ann@example.org.", "Hi."] });
    expect([embedding.status, upstream()]).toEqual([200, [{ model: "m", input: [masked, "Hi."] }]]);
    expect((await post("/v1/embeddings", { model: "m", input: ["Hi.", "A zebra."] })).status).toBe(446);
    const claude = { provider: "anthropic" };
    const messages = [{ role: "user", content: "Mail ann@example.org." }];
    const answer = await post("/v1/messages", { model: "m", max_tokens: 9, system: "Be kind.", messages }, claude);
    expect(answer.json.content).toEqual([{ type: "text", text: "I write to ann@example.org." }]);
    expect(upstream()).toMatchObject([{ system: "Be kind.", messages: [{ role: "user", content: masked }] }]);
    const unified = await chat("Mail ann@example.org.", claude, { max_tokens: 9 });
    expect(said(unified)).toBe("I write to ann@example.org.");
    expect(JSON.stringify(upstream())).not.toMatch(/ann@|guard_vault/);
  });

  it("passes nothing if guard is down, rejects the token, or cannot check", async () => {
    model.says = "Hello.";
    const ways = [{ webhookURL: "http://127.0.0.1:9/portkey" }, { token: "another" }];
    for (const way of ways) expect((await chat("Hi.", way)).status).toBe(446);
    expect((await chat("Please break.")).status).toBe(446);
    expect((await chat([{ type: "text", text: 1 }])).status).toBe(446);
    expect(upstream()).toEqual([]);
    // A client of the gateway cannot choose what is restored.
    expect((await chat("Hi.", {}, { guard_vault: "x" })).status).toBe(200);
  });

  it("rejects other hooks, types and bodies", async () => {
    const asks = async (body: object) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const reply = await app.inject({ method: "POST", url: "/portkey", headers, payload: body });
      return [reply.statusCode, reply.json().errors?.[0]?.pointer];
    };
    const asked = { eventType: "beforeRequestHook", requestType: "chatComplete", request: { json: {} } };
    expect(await asks({ ...asked, eventType: "later" })).toEqual([422, "/eventType"]);
    expect(await asks({ ...asked, requestType: "imageGenerate" })).toEqual([422, "/requestType"]);
    expect(await asks({ ...asked, requestType: "toString" })).toEqual([422, "/requestType"]);
    expect(await asks({ ...asked, request: { json: "Hi." } })).toEqual([422, "/request/json"]);
    expect((await asks({ ...asked, request: { json: { messages: 1 } } }))[0]).toBe(422);
    const vault = { messages: [{ role: "user", content: "Hi." }], guard_vault: "x" };
    const answered = { ...asked, eventType: "afterRequestHook", request: { json: vault } };
    const response = { json: { choices: [{ message: { content: "Hi." } }] }, statusCode: 200 };
    expect((await asks({ ...answered, response }))[0]).toBe(422);
    expect((await asks({ ...answered, response: { json: { choices: 1 }, statusCode: 200 } }))[0]).toBeGreaterThan(399);
  });

  it("denies streams before the call of the model, because the gateway ignores the verdict about their answers", async () => {
    model.says = "A zebra.";
    const claude = { provider: "anthropic" };
    for (const denied of [
      await chat("Hi.", {}, { stream: true }),
      await post("/v1/completions", { model: "m", prompt: "Hi.", stream: true }),
      await post("/v1/messages", { model: "m", max_tokens: 9, messages: [], stream: true }, claude),
      await chat("Hi.", { guards: ["input_guardrails"] }, { stream: true }),
    ]) {
      expect([denied.status, upstream()]).toEqual([446, []]);
      expect(JSON.stringify(denied.json)).not.toContain("zebra");
      expect(told(denied)[0]).toContain("Ask for one without a stream");
    }
  });

  it("denies answers of streams, which reach the webhook without a text", async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const request = { json: { messages: [{ role: "user", content: "Hi." }] }, isStreamingRequest: true };
    const response = { json: null, statusCode: 200 };
    const payload = { eventType: "afterRequestHook", requestType: "chatComplete", request, response };
    const reply = await app.inject({ method: "POST", url: "/portkey", headers, payload });
    expect(reply.json()).toMatchObject({ verdict: false, data: { outcome: "blocked" } });
  });

  it("changes no text in which nothing is found", async () => {
    const text = fc.string({ unit: "binary", maxLength: 30 }).filter((text) => text.isWellFormed());
    const names = new Anonymize();
    await fc.assert(
      fc.asyncProperty(text, text, async (content, answer) => {
        // The NER model takes some random characters for a name.
        fc.pre((await names.scan(content)).isValid);
        model.says = answer;
        const reply = await chat(content);
        expect(said(reply)).toBe(answer);
        expect(upstream()[0].messages[0].content).toBe(content);
      }),
      { numRuns: 20 },
    );
  });
});
