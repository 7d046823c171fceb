import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuard } from "../../src/guard/create-guard.ts";
import type { Guard, GuardedCall, GuardReport } from "../../src/guard/guard.ts";
import { guardedFetch } from "../../src/http-formats/guarded-fetch.ts";

const WEEK = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const event = {
  type: "object",
  properties: {
    name: { type: "string" },
    day: { type: "string", enum: WEEK },
    priority: { type: "string", enum: ["low", "medium", "high", "do not disturb"] },
    category: { const: "meeting" },
    note: {
      anyOf: [{ type: "string" }, { type: "null" }],
      description: "Anything else that was said. Leave it empty if you are not sure.",
      default: "none",
      examples: ["Bring the slides", "Not before noon"],
    },
    phone: { type: "string", pattern: "^\\+?[0-9 ()-]{7,20}$" },
  },
  required: ["name", "day"],
  additionalProperties: false,
};
const ticket = {
  type: "object",
  properties: {
    sprache: { enum: ["Deutsch", "Englisch", "Französisch"] },
    kategorie: { enum: ["Rechnung", "Lieferung", "Rückgabe"], description: "Die Kategorie der Anfrage" },
    優先度: { enum: ["高", "中", "低"] },
  },
};
const parameters = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: {
    location: { type: "string", description: "The city and state, such as San Francisco, CA" },
    unit: { type: "string", enum: ["celsius", "fahrenheit"] },
    days: { type: "integer", default: 5, minimum: 1 },
  },
  required: ["location"],
};
const FUNCTIONS = [
  {
    name: "get_weather",
    description: "Get the current weather in a given location. Call this whenever the user asks about the weather.",
    parameters,
  },
  {
    name: "transfer_to_billing_agent",
    description: "Handoff to the Billing agent to handle the request.",
    parameters: { type: "object" },
  },
  { name: "read_text_file", description: "Read a file as text. Only works within allowed directories.", parameters },
  {
    name: "send_email",
    description: "Send an email to a recipient. Always ask the user to confirm before you send.",
    parameters: { type: "object", properties: { to: { type: "string", format: "email" }, body: { type: "string" } } },
  },
];
const city = { type: "approximate", country: "US", city: "San Francisco", region: "California", timezone: "UTC" };

/** Fields of ordinary requests: of the official SDKs, gateways, tracing and other model servers. */
const CHATS: Record<string, unknown>[] = [
  { temperature: 0.2, top_p: 0.9, n: 1, seed: 7, logit_bias: { "50256": -100 }, user: "user-1234", store: true },
  { stop: ["\n\nHuman:", "<|im_end|>", "Observation:"] },
  { metadata: { session: "chat-42", plan: "pro", source: "mobile app", run: "01JBD6G2QDFW2ADYRT2AZ8HZ4W" } },
  {
    metadata: {
      user_id: `user_${"ab12".repeat(16)}_session_0a6f0e1b`,
      url: "https://app.example.com/p/42?tab=a&lang=de",
    },
  },
  { tools: FUNCTIONS.map((definition) => ({ type: "function", function: definition })), tool_choice: "auto" },
  { functions: FUNCTIONS, function_call: "auto" },
  { response_format: { type: "json_schema", json_schema: { name: "calendar_event", strict: true, schema: event } } },
  { response_format: { type: "json_schema", json_schema: { name: "classify_ticket", schema: ticket } } },
  { response_format: { type: "json_object" }, reasoning_effort: "medium", verbosity: "low", service_tier: "auto" },
  { prediction: { type: "content", content: 'class User {\n  name: string = "";\n}\n\nexport default User;' } },
  { web_search_options: { search_context_size: "medium", user_location: { type: "approximate", approximate: city } } },
  { safety_identifier: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" },
  { prompt_cache_key: "acme-support-bot-v3-customer-onboarding", modalities: ["text"] },
  { provider: { order: ["Together AI", "Fireworks"], require_parameters: true }, transforms: ["middle-out"] },
  { guided_choice: ["positive", "negative", "neither of the two"], chat_template_kwargs: { enable_thinking: false } },
  { guided_regex: "(yes|no|maybe), because [a-z ]+", repetition_penalty: 1.1, top_k: 40, min_p: 0.05 },
  { grammar: 'root ::= ("yes" | "no") ws\nws ::= [ \\t\\n]*' },
  {
    extra_body: { trace_id: "4bf92f3577b34da6a3ce929d0e0e4736", run_name: "quarterly-report", tags: ["finance team"] },
  },
  { documents: [{ id: "doc-1", title: "Refunds", snippet: "Customers can return items within 30 days." }] },
];
const ANSWER = {
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", usage: { prompt_tokens: 1 } },
  choices: [{ index: 0, message: { role: "assistant", content: "On Friday.", refusal: null }, finish_reason: "stop" }],
  ...{ provider: "Google AI Studio", system_fingerprint: "fp_44709d6fcb", service_tier: "default" },
};

const RESPONSES: Record<string, unknown>[] = [
  {
    instructions: "You are helpful.",
    text: { format: { type: "json_schema", name: "a", schema: event } },
    store: false,
  },
  { include: ["reasoning.encrypted_content", "web_search_call.action.sources"], reasoning: { summary: "auto" } },
  { tools: [{ type: "web_search", user_location: city }, ...FUNCTIONS.map((tool) => ({ type: "function", ...tool }))] },
  { previous_response_id: "resp_67ccd2bed1ec8190b14f964abc054267", truncation: "auto" },
];
const annotation = { type: "url_citation", url: "https://example.com/", title: "Weather in Rome", start_index: 0 };
const RESPONSE = {
  ...{
    id: "resp_1",
    object: "response",
    model: "m",
    status: "completed",
    error: null,
    instructions: "You are helpful.",
  },
  output: [
    { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAAABo".repeat(40) },
    { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "weather in Rome" } },
    {
      ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: "It is sunny in Rome.", annotations: [annotation], logprobs: [] }],
    },
  ],
  usage: { input_tokens: 1 },
};

const MESSAGES: Record<string, unknown>[] = [
  {
    system: [{ type: "text", text: "You are helpful.", cache_control: { type: "ephemeral" } }],
    tools: [...FUNCTIONS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters }))],
    ...{
      metadata: { user_id: "u-1" },
      stop_sequences: ["\n\nHuman:"],
      thinking: { type: "enabled", budget_tokens: 2000 },
    },
  },
  { output_config: { format: { type: "json_schema", schema: event }, effort: "medium" } },
  { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }] },
];
const MESSAGE = {
  ...{ id: "msg_01", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", stop_sequence: null },
  content: [
    { type: "thinking", thinking: "They ask for the weather.", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h".repeat(8) },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "rome weather" } },
    {
      ...{ type: "web_search_tool_result", tool_use_id: "srvtoolu_1" },
      content: [
        {
          ...{ type: "web_search_result", title: "Weather in Rome", url: "https://example.com/rome" },
          encrypted_content: "EqQBCgIYAhIM".repeat(50),
        },
      ],
    },
    { type: "text", text: "It is sunny.", citations: null },
  ],
  usage: { input_tokens: 1, service_tier: "standard" },
};

describe("an ordinary request, with the default configuration", () => {
  let guard: Guard;
  beforeAll(async () => {
    guard = await createGuard({ config: "scanners.yml" });
  }, 120_000);
  afterAll(() => guard?.close());

  /** A fetch of an SDK whose provider gives one answer, with the bodies that it was sent, and the reports on them. */
  function provider(answer: object) {
    const sent: Record<string, unknown>[] = [];
    const reports: GuardReport[] = [];
    const keep = async <Checked extends { report: GuardReport }>(checked: Promise<Checked>): Promise<Checked> => {
      reports.push((await checked).report);
      return checked;
    };
    const observed: Guard = {
      call(options): GuardedCall {
        const call = guard.call(options);
        return {
          request: (chat) => keep(call.request(chat)),
          texts: (texts, source) => keep(call.texts(texts, source)),
          answer: (answer) => keep(call.answer(answer)),
          answerStream: () => call.answerStream(),
        };
      },
      close: async () => {},
    };
    const send = async (_: unknown, { body }: RequestInit = {}) => {
      sent.push(JSON.parse(body as string));
      return Response.json(answer);
    };
    return { fetch: guardedFetch(observed, { fetch: send as typeof fetch }), sent, reports };
  }

  const failed = (reports: readonly GuardReport[]) =>
    reports.flatMap(({ resultsScore }) => Object.entries(resultsScore).filter(([, score]) => score > 0));

  it.each(CHATS)("to chat completions is sent as it is: %j", async (fields) => {
    const { fetch, sent, reports } = provider(ANSWER);
    const client = new OpenAI({ apiKey: "x", fetch });
    const messages = [{ role: "user" as const, content: "What is on my calendar on Friday?" }];
    const body = { model: "accounts/fireworks/models/llama-v3p1-405b-instruct", messages, ...fields };
    expect(await client.chat.completions.create(body)).toMatchObject({ choices: ANSWER.choices });
    expect([sent, failed(reports)]).toEqual([[body], []]);
    expect(reports.map(({ coverage }) => coverage.partsSkipped)).toEqual(reports.map(() => 0));
  });

  it.each(RESPONSES)("to the Responses API is sent as it is: %j", async (fields) => {
    const { fetch, sent, reports } = provider(RESPONSE);
    const client = new OpenAI({ apiKey: "x", fetch });
    const body = { model: "gpt-4o", input: "What is the weather in Rome?", ...fields };
    expect(await client.responses.create(body)).toMatchObject({ output: RESPONSE.output });
    expect([sent, failed(reports)]).toEqual([[body], []]);
  });

  it.each(MESSAGES)("to Anthropic is sent as it is: %j", async (fields) => {
    const { fetch, sent, reports } = provider(MESSAGE);
    const client = new Anthropic({ apiKey: "x", fetch });
    const messages = [{ role: "user" as const, content: "What is the weather in Rome?" }];
    const body = { model: "claude", max_tokens: 4000, messages, ...fields };
    expect(await client.messages.create(body)).toMatchObject({ content: MESSAGE.content });
    expect([sent, failed(reports)]).toEqual([[body], []]);
  });
});
