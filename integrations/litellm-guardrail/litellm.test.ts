import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { passed } from "../../src/scan/scanner.ts";
import { Anonymize, BanSubstrings, Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { createServer } from "../../src/server/index.ts";
import { scannerOf } from "../../test/server/fixtures.ts";
import {
  hasLiteLlm,
  LITELLM_START_TIMEOUT,
  type LiteLlmProxy,
  type LiteLlmReply,
  litellmModel,
  startLiteLlmProxy,
} from "../../test/support/litellm-proxy.ts";
import { type ModelServer, startModelServer } from "../../test/support/model-server.ts";

const IS_INSTALLED = hasLiteLlm("LiteLLM's Generic Guardrail API");

const GUARD_KEY = "a-key-of-guard";
const SECRET = "AKIAIOSFODNN7EXAMPLQ";

/** A scanner that throws at a word. */
const breaking = scannerOf("Breaking", async (text) => {
  if (text.includes("break")) throw new Error("broken");
  return passed(text);
});

describe.skipIf(!IS_INSTALLED)("the real LiteLLM proxy with guard as its guardrail", () => {
  let app: FastifyInstance;
  let model: ModelServer;
  let proxy: LiteLlmProxy;

  beforeAll(async () => {
    model = await startModelServer();
    app = await createServer({
      config: {
        dialects: ["litellm", "lakera"],
        auth: [
          { type: "api_key", keys: [GUARD_KEY], header: "x-api-key" },
          { type: "http_bearer", token: GUARD_KEY },
        ],
        app: { lazyLoad: true, masking: ["Regex"] },
        outputScanners: [
          { type: "BanSubstrings", params: { substrings: ["zebra"] } },
          { type: "Regex", params: { patterns: ["\\bK-\\d{4}\\b"], match_type: "all" } },
        ],
      },
      scanners: { input: [new Anonymize(), new BanSubstrings({ substrings: ["zebra"] }), new Secrets(), breaking] },
      logger: { write: () => {} },
    });
    const guard = await app.listen({ host: "127.0.0.1", port: 0 });
    const guardrail = (name: string, mode: string, more: object = {}) => ({
      guardrail_name: name,
      litellm_params: {
        guardrail: "generic_guardrail_api",
        mode,
        api_base: guard,
        api_key: GUARD_KEY,
        default_on: false,
        unreachable_fallback: "fail_closed",
        ...more,
      },
    });
    const incremental = { streaming_transform_mode: "incremental_diff", streaming_sampling_rate: 1 };
    proxy = await startLiteLlmProxy({
      model_list: [
        litellmModel("gpt-fake", "openai/gpt-fake", `${model.url}/v1`),
        litellmModel("txt-fake", "text-completion-openai/gpt-3.5-turbo-instruct", `${model.url}/v1`),
        litellmModel("claude-fake", "anthropic/claude-3-5-haiku-20241022", model.url),
        litellmModel("emb-fake", "openai/text-embedding-3-small", `${model.url}/v1`),
      ],
      guardrails: [
        guardrail("pre", "pre_call"),
        guardrail("during", "during_call"),
        guardrail("post", "post_call"),
        guardrail("diff", "post_call", incremental),
        guardrail("diff-at-end", "post_call", { ...incremental, streaming_end_of_stream_only: true }),
        guardrail("down", "pre_call", { api_base: "http://127.0.0.1:9" }),
        guardrail("wrong-key", "pre_call", { api_key: "another" }),
        {
          guardrail_name: "lakera",
          litellm_params: { guardrail: "lakera_v2", mode: "pre_call", api_base: guard, api_key: GUARD_KEY },
        },
      ],
    });
  }, LITELLM_START_TIMEOUT);

  afterAll(async () => {
    proxy?.stop();
    await app?.close();
    await model?.close();
  });

  function post(path: string, body: unknown): Promise<LiteLlmReply> {
    model.sent();
    return proxy.post(path, body);
  }

  const chat = (content: unknown, guardrail: string, more: object = {}) =>
    post("/v1/chat/completions", {
      model: "gpt-fake",
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content },
      ],
      guardrails: [guardrail],
      ...more,
    });

  /** The text of a stream of chat completions, and its error. */
  const streamed = ({ text }: LiteLlmReply): { text: string; error?: { message: string } } => {
    const events = text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
    return {
      text: events.map(({ choices }) => choices?.[0]?.delta?.content ?? "").join(""),
      ...Object.assign({}, ...events.map(({ error }) => (error ? { error } : {}))),
    };
  };

  const said = ({ json }: LiteLlmReply) => json?.choices?.[0]?.message?.content;
  const upstream = () => model.sent().map(({ body }) => body);
  const blocked = "The request was blocked by guard: BanSubstrings, BanSubstrings[window].";
  const me = "I am ann@example.org.";
  const masked = "I am [REDACTED_EMAIL_ADDRESS_1].";

  it("masks and blocks chat before the call", async () => {
    model.says = "Hello.";
    const passed = await chat("Hi 😀.", "pre");
    expect([passed.status, said(passed), upstream()[0].messages[1].content]).toEqual([200, "Hello.", "Hi 😀."]);
    const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } };
    const tool = { type: "function", function: { name: "add", parameters: { type: "object", properties: {} } } };
    expect((await chat([{ type: "text", text: me }, image], "pre", { tools: [tool] })).status).toBe(200);
    const [sent] = upstream();
    expect([sent.messages[1].content, sent.tools]).toEqual([[{ type: "text", text: masked }, image], [tool]]);
    const reply = await chat("A zebra.", "pre");
    expect([reply.status, reply.json.error.message, upstream()]).toEqual([400, blocked, []]);
  });

  it("masks and blocks the other endpoints before the call", async () => {
    const guardrails = ["pre"];
    await post("/v1/completions", { model: "txt-fake", prompt: [me, "Hi."], guardrails });
    expect(upstream()[0].prompt).toEqual([masked, "Hi."]);
    await post("/v1/embeddings", { model: "emb-fake", input: [me, "bob@example.org"], guardrails });
    expect(upstream()[0].input).toEqual([masked, "[REDACTED_EMAIL_ADDRESS_2]"]);
    const claude = { model: "claude-fake", max_tokens: 9, guardrails };
    await post("/v1/messages", { ...claude, system: "Be kind.", messages: [{ role: "user", content: me }] });
    expect(upstream()[0]).toMatchObject({ system: "Be kind.", messages: [{ role: "user", content: masked }] });
    const refused = await post("/v1/messages", { ...claude, messages: [{ role: "user", content: "A zebra." }] });
    expect([refused.status, refused.json.error.message, upstream()]).toEqual([400, blocked, []]);
    await post("/v1/responses", { model: "gpt-fake", instructions: "Be kind.", input: me, guardrails });
    expect(upstream()[0]).toMatchObject({ instructions: "Be kind.", input: masked });
  });

  it("blocks during the call, whether or not the model has received the request", async () => {
    expect((await chat(me, "during")).status).toBe(200);
    expect([me, masked]).toContain(upstream()[0].messages[1].content);
    expect((await chat("A zebra.", "during")).status).toBe(400);
  });

  it("masks and blocks answers and their tool calls", async () => {
    model.says = "Hello K-1234 there.";
    expect(said(await chat("Hi.", "post"))).toBe("Hello [REDACTED] there.");
    const guardrails = ["post"];
    const completion = await post("/v1/completions", { model: "txt-fake", prompt: "Hi.", guardrails });
    expect(completion.json.choices[0].text).toBe("Hello [REDACTED] there.");
    const messages = [{ role: "user", content: "Hi." }];
    const claude = await post("/v1/messages", { model: "claude-fake", max_tokens: 9, messages, guardrails });
    expect(claude.json.content[0].text).toBe("Hello [REDACTED] there.");
    const response = await post("/v1/responses", { model: "gpt-fake", input: "Hi.", guardrails });
    expect(response.json.output[0].content[0].text).toBe("Hello [REDACTED] there.");
    model.says = "A zebra.";
    const refused = await chat("Hi.", "post");
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      "The answer was blocked by guard: BanSubstrings.",
    ]);
    model.says = "I log in.";
    model.calls = [{ id: "t1", type: "function", function: { name: "login", arguments: `{"key":"${SECRET}"}` } }];
    const calls = await chat("Hi.", "post");
    model.calls = [];
    expect([calls.status, calls.json.error.message]).toEqual([
      400,
      "The answer was blocked by guard: Secrets[tool_call].",
    ]);
  });

  it("masks streams in the mode incremental_diff, and otherwise only blocks them", async () => {
    model.says = "There are many animals in the park 😀. Some are as nice as K-1234 is. Good night to all of you.";
    const redacted = model.says.replace("K-1234", "[REDACTED]");
    for (const guardrail of ["diff", "diff-at-end"]) {
      expect(streamed(await chat("Hi.", guardrail, { stream: true }))).toEqual({ text: redacted });
    }
    expect(streamed(await chat("Hi.", "post", { stream: true }))).toEqual({ text: model.says });
    model.says =
      "There are many animals in the park. Some of them are nice. Then came a zebra and it was blue. It ran.";
    for (const guardrail of ["diff", "diff-at-end"]) {
      const cut = await chat("Hi.", guardrail, { stream: true });
      expect(cut.text).toContain("The answer was blocked by guard: BanSubstrings.");
      expect(streamed(cut).text).not.toContain("zebra");
    }
    const late = await chat("Hi.", "post", { stream: true });
    expect(streamed(late).error?.message).toBe("The answer was blocked by guard: BanSubstrings.");
  });

  it("masks no other streams, blocks those of messages and responses, and never checks completions", async () => {
    const messages = [{ role: "user", content: "Hi." }];
    const bodies: Record<string, object> = {
      "/v1/completions": { model: "txt-fake", prompt: "Hi." },
      "/v1/messages": { model: "claude-fake", max_tokens: 9, messages },
      "/v1/responses": { model: "gpt-fake", input: "Hi." },
    };
    const stream = async (path: string) =>
      (await post(path, { ...bodies[path], stream: true, guardrails: ["diff"] })).text;
    const blocked = "The answer was blocked by guard: BanSubstrings.";
    for (const path of Object.keys(bodies)) {
      model.says = "K-1234 is nice. Good night to all of you.";
      expect(await stream(path)).not.toContain("[REDACTED]");
      model.says = "Some of them are nice. Then came a zebra and it was blue. It ran.";
      const text = await stream(path);
      if (path === "/v1/completions") expect(text).not.toContain(blocked);
      else expect(text).toContain(blocked);
    }
  });

  it("passes nothing if guard is down, rejects the key, or cannot check", async () => {
    for (const guardrail of ["down", "wrong-key"]) {
      expect((await chat("Hi.", guardrail)).status).toBe(500);
      expect(upstream()).toEqual([]);
    }
    expect((await chat("Please break.", "pre")).status).toBe(500);
    expect(upstream()).toEqual([]);
  });

  it("masks and blocks with its guardrail for Lakera, too", async () => {
    model.says = "Hello.";
    expect((await chat("Hi.", "lakera")).status).toBe(200);
    expect((await chat("😀 I am ann@example.org.", "lakera")).status).toBe(200);
    expect(upstream()[0].messages[1].content).toBe("😀 I am [MASKED EMAIL].");
    expect((await chat("A zebra of ann@example.org.", "lakera")).status).toBe(400);
    expect((await chat([{ type: "text", text: me }], "lakera")).status).toBe(400);
    expect(upstream()).toEqual([]);
  });
});
