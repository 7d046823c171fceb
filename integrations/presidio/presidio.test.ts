import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../src/index.ts";
import { createServer } from "../../src/server/index.ts";
import { fences, read } from "../../test/house/markdown.ts";
import {
  hasLiteLlm,
  LITELLM_START_TIMEOUT,
  type LiteLlmProxy,
  type LiteLlmReply,
  litellmModel,
  startLiteLlmProxy,
} from "../../test/support/litellm-proxy.ts";
import { type ModelServer, startModelServer } from "../../test/support/model-server.ts";

const IS_INSTALLED = hasLiteLlm("LiteLLM's guardrail presidio");

const PASSWORD = "a-password-of-guard";

/** Ordinary requests, which must arrive unchanged. */
const HARMLESS = [
  "What is 17 * 23?",
  "Übersetze: Guten Morgen ☀️",
  "请解释一下光合作用。",
  "def add(a, b):\n    return a + b",
  '{"width": 1024, "height": 768}',
  "| a | b |\n|---|---|\n| 1 | 2 |",
];

describe("the commands of the page", () => {
  const blocks = fences(read("integrations/presidio/README.md"));
  const commands = blocks.flatMap(({ content }, index) => {
    const [, path, body] = /^curl -s http:\/\/127\.0\.0\.1:8000(\S+) .*?-d '(.*)'/s.exec(content) ?? [];
    return path && body ? [{ path, body, shown: JSON.parse(blocks[index + 1]?.content ?? "") }] : [];
  });

  it("return what the page shows", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "guard-presidio-")), "scanners.yml");
    onTestFinished(() => rmSync(dirname(file), { recursive: true }));
    const yaml = blocks.find(({ words }) => words.includes("config"))?.content ?? "";
    writeFileSync(file, yaml);
    const config = await loadConfig(file);
    const app = await createServer({
      config: { ...config, app: { ...config.app, lazyLoad: true } },
      logger: { write: () => {} },
    });
    onTestFinished(() => app.close());
    const authorization = `Basic ${Buffer.from("litellm:replace-this-password").toString("base64")}`;
    const headers = { authorization, "content-type": "application/json" };
    expect(commands.map(({ path }) => path)).toEqual(["/analyze", "/anonymize", "/deanonymize"]);
    for (const { path, body, shown } of commands) {
      const reply = await app.inject({ method: "POST", url: path, headers, payload: body });
      expect([reply.statusCode, reply.json()]).toEqual([200, shown]);
    }
  });
});

describe.skipIf(!IS_INSTALLED)("the guardrail presidio of the real LiteLLM proxy", () => {
  let app: FastifyInstance;
  let model: ModelServer;
  let proxy: LiteLlmProxy;
  const folder = mkdtempSync(join(tmpdir(), "guard-presidio-"));

  beforeAll(async () => {
    model = await startModelServer();
    app = await createServer({
      config: {
        dialects: ["presidio"],
        auth: [{ type: "http_basic", username: "litellm", password: PASSWORD, mayAddRecognizers: true }],
        app: { lazyLoad: true },
        inputScanners: [{ type: "Anonymize", params: { recognizerConf: [] } }],
      },
      logger: { write: () => {} },
    });
    const guard = await app.listen({ host: "127.0.0.1", port: 0 });
    const { host } = new URL(guard);
    const recognizers = join(folder, "recognizers.json");
    const card = { name: "card", regex: "LC-\\d{6}", score: 0.8 };
    writeFileSync(
      recognizers,
      JSON.stringify([
        { name: "Library", supported_entity: "LIBRARY_CARD", supported_language: "en", patterns: [card] },
      ]),
    );
    const guardrail = (name: string, more: object = {}, base = `http://litellm:${PASSWORD}@${host}`) => ({
      guardrail_name: name,
      litellm_params: {
        guardrail: "presidio",
        mode: "pre_call",
        presidio_analyzer_api_base: base,
        presidio_anonymizer_api_base: base,
        ...more,
      },
    });
    const action = { pii_entities_config: { EMAIL_ADDRESS: "MASK", CREDIT_CARD: "BLOCK" } };
    proxy = await startLiteLlmProxy({
      model_list: [
        litellmModel("gpt-fake", "openai/gpt-fake", `${model.url}/v1`),
        litellmModel("claude-fake", "anthropic/claude-3-5-haiku-20241022", model.url),
      ],
      guardrails: [
        guardrail("mask"),
        guardrail("choose", action),
        guardrail("restore", { output_parse_pii: true, presidio_filter_scope: "input" }),
        guardrail("output", { presidio_filter_scope: "output" }),
        guardrail("own", { presidio_ad_hoc_recognizers: recognizers }),
        guardrail("unknown", { pii_entities_config: { US_NPI: "MASK" } }),
        guardrail("down", {}, "http://127.0.0.1:9"),
        guardrail("wrong-key", {}, guard),
        guardrail("wrong-key-closed", action, guard),
      ],
    });
  }, LITELLM_START_TIMEOUT);

  afterAll(async () => {
    proxy?.stop();
    await app?.close();
    await model?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function post(path: string, body: unknown): Promise<LiteLlmReply> {
    model.sent();
    return proxy.post(path, body);
  }

  const chat = (content: unknown, guardrail: string, more: object = {}) =>
    post("/v1/chat/completions", {
      model: "gpt-fake",
      messages: [{ role: "user", content }],
      guardrails: [guardrail],
      ...more,
    });
  const said = ({ json }: LiteLlmReply) => json?.choices?.[0]?.message?.content;
  const upstream = () => model.sent().map(({ body }) => body.messages?.at(-1).content);

  it("masks what guard finds, and sends ordinary texts as they are", async () => {
    model.says = "Hello.";
    for (const text of HARMLESS) {
      expect([(await chat(text, "mask")).status, upstream()]).toEqual([200, [text]]);
    }
    await chat("😀 I am ann@example.org, from 192.0.2.7.", "mask");
    expect(upstream()).toEqual(["😀 I am <EMAIL_ADDRESS>, from <IP_ADDRESS>."]);
    await chat([{ type: "text", text: "I am ann@example.org." }], "mask");
    expect(upstream()).toEqual([[{ type: "text", text: "I am <EMAIL_ADDRESS>." }]]);
    const messages = [{ role: "user", content: "I am ann@example.org." }];
    await post("/v1/messages", { model: "claude-fake", max_tokens: 9, messages, guardrails: ["mask"] });
    expect(upstream()).toEqual(["I am <EMAIL_ADDRESS>."]);
  });

  it("masks and blocks by entity", async () => {
    await chat("I am ann@example.org, from 192.0.2.7.", "choose");
    expect(upstream()).toEqual(["I am <EMAIL_ADDRESS>, from 192.0.2.7."]);
    const blocked = await chat("My card is 4111 1111 1111 1111.", "choose");
    expect([blocked.status, upstream()]).toEqual([400, []]);
    expect(blocked.text).toContain("CREDIT_CARD");
    const unknown = await chat("Hello.", "unknown");
    expect([unknown.status, upstream()]).not.toEqual([200, ["Hello."]]);
  });

  it("restores answers, masks answers, and takes recognizers of a file", async () => {
    model.says = "I wrote to <EMAIL_ADDRESS_1>.";
    const restored = await chat("Write to ann@example.org.", "restore");
    expect([said(restored), upstream()]).toEqual(["I wrote to ann@example.org.", ["Write to <EMAIL_ADDRESS_1>."]]);
    model.says = "It is bob@example.org.";
    expect(said(await chat("Hi.", "output"))).toBe("It is <EMAIL_ADDRESS>.");
    await chat("My card is LC-482913.", "own");
    expect(upstream()).toEqual(["My card is <LIBRARY_CARD>."]);
  });

  it("sends nothing if guard is down, or refuses and entities are configured", async () => {
    expect((await chat("Hi.", "down")).status).toBe(500);
    expect(upstream()).toEqual([]);
    expect((await chat("Hi.", "wrong-key-closed")).status).not.toBe(200);
    expect(upstream()).toEqual([]);
    // LiteLLM notices at the answer, which it masks too.
    expect((await chat("Hi.", "wrong-key")).status).toBe(400);
    expect(upstream()).toEqual(["Hi."]);
  });
});
