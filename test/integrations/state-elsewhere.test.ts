import Anthropic from "@anthropic-ai/sdk";
import { wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { RecordingModel } from "../../integrations/langchain/recording.ts";
import { startedProxy } from "../../integrations/proxy/started.ts";
import type { Guard } from "../../src/guard/guard.ts";
import { guardMiddleware } from "../../src/integrations/ai-sdk.ts";
import { guardAnthropic } from "../../src/integrations/anthropic.ts";
import { guardChatModel } from "../../src/integrations/langchain.ts";
import { guardOpenAI } from "../../src/integrations/openai.ts";
import { testServer } from "../server/fixtures.ts";
import { exampleGuard } from "../support/example-guard.ts";
import { upstreamForTests } from "../support/upstream.ts";

const upstream = upstreamForTests();
const STATE = { previous_response_id: "resp_67ccd2bed1ec8190b14f964abc054267" };
const SKILLS = { container: { skills: [{ type: "anthropic", skill_id: "pptx", version: "latest" }] } };
const PROMPT = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];

/** A call through each door, to a model that also reads texts that the provider has stored. */
const DOORS: [string, (guard: Guard) => Promise<unknown>][] = [
  [
    "the wrapped client of OpenAI",
    async (guard) => {
      const client = guardOpenAI(new OpenAI({ apiKey: "none", baseURL: `${upstream.url}/v1`, maxRetries: 0 }), guard);
      return client.responses.create({ model: "gpt", input: "Hi", ...STATE });
    },
  ],
  [
    "the wrapped client of Anthropic",
    async (guard) => {
      const client = guardAnthropic(new Anthropic({ apiKey: "none", baseURL: upstream.url, maxRetries: 0 }), guard);
      const body = { model: "claude", max_tokens: 9, messages: [{ role: "user" as const, content: "Hi" }], ...SKILLS };
      return client.beta.messages.create(body as never);
    },
  ],
  [
    "the AI SDK",
    async (guard) => {
      const model = wrapLanguageModel({ model: new MockLanguageModelV3(), middleware: guardMiddleware(guard) });
      const openai = { previousResponseId: STATE.previous_response_id };
      return model.doGenerate({ prompt: PROMPT, providerOptions: { openai } });
    },
  ],
  [
    "LangChain",
    async (guard) => guardChatModel(new RecordingModel({ answer: "Hi." }), guard).invoke("Hi", STATE as never),
  ],
  [
    "the proxy",
    async (guard) => {
      const { url } = await startedProxy(upstream.url, { guard });
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ model: "gpt", input: "Hi", ...STATE });
      const reply = await fetch(`${url}/v1/responses`, { method: "POST", headers, body });
      if (!reply.ok) throw new Error(await reply.text());
    },
  ],
];

describe("texts that the provider has stored", () => {
  beforeEach(() => {
    upstream.answers = [];
  });

  it.each(DOORS)("are told in the coverage, so that they can be refused: %s", async (_, use) => {
    await expect(use(await exampleGuard({ stateful: "refuse" }))).rejects.toThrow(/blocked by guard/);
    expect(upstream.received).toEqual([]);
  });

  it("are told in replies of the server", async () => {
    const server = await testServer();
    const chat = { messages: [{ role: "user", content: "Hi" }] };
    const told = async (more: object) =>
      (await server.post("/analyze/conversation", { ...chat, ...more, details: true })).json().coverage.state_elsewhere;
    expect(await told({ fields: STATE })).toEqual(["previous_response_id"]);
    expect(await told({ tools: [{ type: "web_search" }] })).toEqual(["web_search"]);
  });

  it("are told to Portkey's gateway, which sends the whole request", async () => {
    const server = await testServer({}, { dialects: ["portkey"], app: { stateful: "refuse" } });
    const json = { model: "gpt", messages: [{ role: "user", content: "Hi" }], web_search_options: {} };
    const hook = { eventType: "beforeRequestHook", requestType: "chatComplete", request: { json } };
    expect((await server.post("/portkey", hook)).json()).toMatchObject({ verdict: false });
  });
});
