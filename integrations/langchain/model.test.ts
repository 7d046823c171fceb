import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { tool } from "@langchain/core/tools";
import { FakeListChatModel, FakeStreamingChatModel } from "@langchain/core/utils/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { GuardReport } from "../../src/guard/guard.ts";
import { GuardBlockedError, guardChatModel } from "../../src/integrations/langchain.ts";
import { GuardError } from "../../src/support/errors.ts";
import {
  brokenGuard,
  collect,
  FORBIDDEN,
  TOKEN,
  TOKEN_REPLACEMENT,
  testGuard,
  wordByWordGuard,
} from "../../test/support/guards.ts";
import { RecordingModel, type Script } from "./recording.ts";

const MAIL = "ann@example.com";
const PLACEHOLDER = "[REDACTED_EMAIL_ADDRESS_1]";
const hello = `I am ${MAIL}`;

/** A guarded model with scripted answers. */
async function scripted(script: Script | ((count: number) => Script) = {}) {
  const inner = new RecordingModel(script);
  return { inner, model: guardChatModel(inner, await testGuard()) };
}

const piecesOf = (...pieces: string[]): Script => ({ chunks: pieces.map((content) => ({ content })) });

/** Joins the chunks of a stream into one message. */
async function joined(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  const [first, ...rest] = await collect(stream);
  return rest.reduce((message, chunk) => message.concat(chunk), first as AIMessageChunk);
}

const lookup = tool(async ({ mail }) => `Knows ${mail}`, {
  name: "lookup",
  description: `Looks people up, such as ${MAIL}.`,
  schema: z.object({ mail: z.string() }),
});

describe("a request", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const file = (value: string) => ({
    type: "file",
    mimeType: "text/plain",
    data: Buffer.from(`Of ${value}`).toString("base64"),
  });
  const shapes: [string, (value: string) => BaseMessage, number?][] = [
    ["a message of a person", (value) => new HumanMessage({ content: `I am ${value}`, name: "ann", id: "m1" })],
    ["a message of the system", (value) => new SystemMessage(`For ${value}`)],
    ["a message of a developer", (value) => new ChatMessage(`For ${value}`, "developer")],
    ["a message in a role of its own", (value) => new ChatMessage(`For ${value}`, "critic")],
    [
      "blocks of text beside an image and a sound",
      (value) =>
        new HumanMessage({
          content: [
            { type: "text", text: `I am ${value}` },
            image,
            { type: "image", url: "https://example.com/a.png" },
            { type: "audio", data: "AAAA", mimeType: "audio/wav" },
            { type: "text", text: `Or ${value}` },
          ] as never,
        }),
      3,
    ],
    ["a file of text", (value) => new HumanMessage({ content: [file(value)] as never })],
    [
      "an answer with calls of tools",
      (value) =>
        new AIMessage({
          content: `Asking ${value}`,
          tool_calls: [
            { id: "c1", name: "lookup", args: { mail: value, deep: [{ n: 1 }] } },
            { id: "c2", name: "lookup", args: {} },
          ],
          invalid_tool_calls: [{ id: "c3", name: "lookup", args: `{"mail": ${value}`, error: "bad" }],
          additional_kwargs: {
            reasoning_content: `Hm, ${value}`,
            tool_calls: [
              { id: "c1", type: "function", function: { name: "lookup", arguments: JSON.stringify({ mail: value }) } },
            ],
          },
        }),
    ],
    [
      "blocks of thoughts and calls",
      (value) =>
        new AIMessage({
          content: [
            { type: "reasoning", reasoning: `Hm, ${value}` },
            { type: "thinking", thinking: `Well, ${value}`, signature: "s" },
            { type: "tool_call", id: "c1", name: "lookup", args: { mail: value } },
            { type: "tool_use", id: "c2", name: "lookup", input: { mail: value } },
          ] as never,
        }),
    ],
    [
      "a result of a tool",
      (value) => new ToolMessage({ content: `Knows ${value}`, tool_call_id: "c1", artifact: [1] }),
    ],
    ["JSON of a tool", (value) => new ToolMessage({ content: JSON.stringify([{ to: value }]), tool_call_id: "c1" })],
    [
      "blocks of a tool",
      (value) => new ToolMessage({ content: [{ type: "text", text: `Of ${value}` }] as never, tool_call_id: "c1" }),
    ],
    ["a result of a function", (value) => new FunctionMessage({ content: `Knows ${value}`, name: "lookup" })],
  ];

  it.each(shapes)("reaches the model with placeholders: %s", async (_, message, skipped = 0) => {
    const inner = new RecordingModel({});
    const reports: GuardReport[] = [];
    const guard = await testGuard();
    const model = guardChatModel(inner, guard, { onReport: (_, report) => void reports.push(report) });
    const given = message(MAIL);
    await model.invoke([given]);
    const [sent] = inner.sent[0]?.messages ?? [];
    expect(sent).toEqual(message(PLACEHOLDER));
    expect(sent?.constructor).toBe(given.constructor);
    expect(given).toEqual(message(MAIL));
    expect(reports[0]?.coverage.partsSkipped).toBe(skipped);
  });

  it.each(shapes)("is the same object if nothing is found: %s", async (_, message) => {
    const { inner, model } = await scripted();
    const given = message("nobody");
    await model.invoke([given]);
    expect(inner.sent[0]?.messages[0]).toBe(given);
  });

  it.each(shapes)("never reaches the model if it is blocked: %s", async (_, message) => {
    const { inner, model } = await scripted();
    const messages = [message(FORBIDDEN)];
    const calls = [model.invoke(messages), model.stream(messages).then(collect), model.batch([messages])];
    await Promise.all(calls.map((call) => expect(call).rejects.toThrow(GuardBlockedError)));
    expect(inner.sent).toEqual([]);
  });

  it("has placeholders in the definitions of tools and in schemas of answers", async () => {
    const { inner, model } = await scripted();
    await model.bindTools([lookup]).invoke("Hi");
    expect(inner.sent[0]?.options.tools).toMatchObject([
      { type: "function", function: { name: "lookup", description: `Looks people up, such as ${PLACEHOLDER}.` } },
    ]);
    // Not every model converts tools to its provider's format when they are bound.
    await model.invoke("Hi", { tools: [lookup] });
    const sent = inner.sent[1]?.options.tools?.[0] as typeof lookup;
    expect(sent).toMatchObject({ name: "lookup", description: `Looks people up, such as ${PLACEHOLDER}.` });
    expect(sent.constructor).toBe(lookup.constructor);
    expect(lookup.description).toContain(MAIL);

    const response_format = (value: string) => ({
      type: "json_schema",
      json_schema: { name: "person", schema: { type: "object", description: `Such as ${value}` } },
    });
    await model.invoke("Hi", { response_format: response_format(MAIL) });
    expect(inner.sent[2]?.options.response_format).toEqual(response_format(PLACEHOLDER));
    await expect(model.invoke("Hi", { response_format: response_format(FORBIDDEN) })).rejects.toThrow(
      GuardBlockedError,
    );
    expect(inner.sent).toHaveLength(3);
  });

  it("and an answer of any text pass unchanged if nothing is found", async () => {
    const guard = await testGuard();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.jsonValue(), async (words, json) => {
        fc.pre(!JSON.stringify([words, json]).includes("@"));
        const middle = Math.floor(words.length / 2);
        const inner = new RecordingModel({ answer: words, ...piecesOf(words.slice(0, middle), words.slice(middle)) });
        const model = guardChatModel(inner, guard);
        const messages = [
          new HumanMessage(words),
          new AIMessage({ content: words, tool_calls: [{ id: "c1", name: "act", args: { json } }] }),
          new ToolMessage({ content: JSON.stringify(json), tool_call_id: "c1" }),
          new HumanMessage({ content: [{ type: "text", text: words }] }),
        ];
        expect((await model.invoke(messages)).content).toBe(words);
        expect((await joined(await model.stream(messages))).content).toBe(words);
        for (const { messages: sent } of inner.sent) expect(sent).toEqual(messages);
      }),
      { numRuns: 40 },
    );
  });
});

describe("an answer", () => {
  it("is restored in texts, reasoning and tool calls, in the fields of every provider", async () => {
    const args = (value: string) => JSON.stringify({ mail: value });
    const answer = (value: string) => ({
      content: [
        { type: "reasoning", reasoning: `Is it ${value}?` },
        { type: "text", text: `To ${value}`, index: 0 },
        { type: "tool_use", id: "c1", name: "lookup", input: { mail: value } },
      ] as never,
      tool_calls: [{ id: "c1", name: "lookup", args: { mail: value } }],
      invalid_tool_calls: [{ id: "c2", name: "lookup", args: `mail: ${value}`, error: "bad" }],
      additional_kwargs: {
        reasoning_content: `Hm, ${value}`,
        tool_calls: [{ id: "c1", type: "function" as const, function: { name: "lookup", arguments: args(value) } }],
      },
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    });
    const given = answer(PLACEHOLDER);
    const written = { ...given.additional_kwargs, parsed: { mail: PLACEHOLDER }, __raw_response: "secret" };
    const { model } = await scripted({ answer: { ...given, additional_kwargs: written } });
    const message = await model.invoke(hello);
    expect(message).toMatchObject(answer(MAIL));
    expect(message).toBeInstanceOf(AIMessage);
    expect(JSON.stringify(message)).not.toMatch(/secret|REDACTED/);
    expect(message.response_metadata).toMatchObject({ finish_reason: "stop", tokenUsage: { totalTokens: 3 } });
  });

  const summed = (text: string) => ({
    id: "rs_1",
    type: "reasoning",
    summary: [{ type: "summary_text", index: 0, text }],
  });

  it("of OpenAI's Responses API is never shown or sent again in its original form", async () => {
    const output = [{ type: "message", content: [{ type: "output_text", text: `To ${PLACEHOLDER}` }] }];
    const content = [{ type: "text", text: `To ${PLACEHOLDER}`, annotations: [] }] as never;
    // Reasoning is in a content block and in fields of the provider.
    const thought = (reasoning: string, summary: object) => ({
      content: [{ type: "reasoning", index: 0, reasoning }],
      additional_kwargs: { reasoning: summary },
    });
    const { inner, model } = await scripted({
      answer: {
        content,
        additional_kwargs: { reasoning: summed(`Is it ${PLACEHOLDER}?`) },
        response_metadata: { output },
      },
      chunks: [
        thought("Is it [REDACTED_EMAIL", summed("Is it [REDACTED_EMAIL")),
        thought("_ADDRESS_1]?", { summary: [{ index: 0, text: "_ADDRESS_1]?" }] }),
        { content, response_metadata: { output, status: "completed" } },
      ],
    });
    for (const answer of [await model.invoke(hello), await joined(await model.stream(hello))]) {
      expect(JSON.stringify(answer)).not.toContain("REDACTED");
      expect(answer.text).toBe(`To ${MAIL}`);
      expect(answer.additional_kwargs.reasoning).toMatchObject({ summary: [{ index: 0, text: `Is it ${MAIL}?` }] });
      await model.invoke([new HumanMessage(hello), answer, new HumanMessage("And?")]);
    }
    const given = new AIMessage({ content: "Hi", response_metadata: { output: [{ type: "message", content: MAIL }] } });
    await model.invoke([given]);
    expect(JSON.stringify(inner.sent)).not.toContain(MAIL);
    expect(given.response_metadata.output).toHaveLength(1);
    const blocked = await scripted({ answer: { content: "", additional_kwargs: { reasoning: summed(FORBIDDEN) } } });
    await expect(blocked.model.invoke("Hi")).rejects.toThrow(GuardBlockedError);
  });

  it.each<Script["answer"]>([
    FORBIDDEN,
    {
      content: [
        { type: "text", text: "Fine" },
        { type: "reasoning", reasoning: FORBIDDEN },
      ] as never,
    },
    { content: "", tool_calls: [{ id: "c1", name: "lookup", args: { mail: FORBIDDEN } }] },
    { content: "Fine", tool_calls: [{ id: "c1", name: "lookup", args: { mail: FORBIDDEN } }] },
    { content: "", invalid_tool_calls: [{ id: "c1", name: "lookup", args: FORBIDDEN }] },
    { content: "", additional_kwargs: { reasoning_content: FORBIDDEN } },
    { content: "", additional_kwargs: { function_call: { name: "lookup", arguments: FORBIDDEN } } },
  ])("is blocked for any of its parts: %j", async (answer) => {
    const { model } = await scripted({ answer });
    await expect(model.invoke("Hi")).rejects.toMatchObject({ code: "GUARD_BLOCKED", part: "answer" });
  });

  it("is the caller's text if something is blocked", async () => {
    const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const script = { answer: { content: FORBIDDEN, usage_metadata }, ...piecesOf("x ", FORBIDDEN) };
    const onBlocked = ({ part }: GuardBlockedError) => `No ${part}.`;
    const inner = new RecordingModel(script);
    const model = guardChatModel(inner, wordByWordGuard(), { onBlocked });
    const metadata = { finish_reason: "content_filter" };
    expect(await model.invoke("Hi")).toMatchObject({
      content: "No answer.",
      usage_metadata,
      response_metadata: metadata,
    });
    const streamed = await joined(await model.stream("Hi"));
    expect(streamed).toMatchObject({ content: "x No answer.", response_metadata: metadata });
    const strict = guardChatModel(inner, await testGuard(), { onBlocked });
    expect(await strict.invoke(FORBIDDEN)).toMatchObject({ content: "No request." });
    expect((await joined(await strict.stream(FORBIDDEN))).content).toBe("No request.");
    expect(inner.sent).toHaveLength(2);
  });
});

describe("a stream", () => {
  it("restores placeholders that are split between chunks, at every position", async () => {
    const answer = `To ${PLACEHOLDER}!`;
    for (let cut = 0; cut <= answer.length; cut++) {
      const { model } = await scripted(piecesOf(answer.slice(0, cut), answer.slice(cut)));
      expect((await joined(await model.stream(hello))).content).toBe(`To ${MAIL}!`);
    }
  });

  it("keeps ids, usage and other metadata, and holds tool calls until the end", async () => {
    const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const { model } = await scripted({
      chunks: [
        { content: "", id: "m1", additional_kwargs: { reasoning_content: "Hm, [REDACTED_EMAIL" } },
        { content: "", id: "m1", additional_kwargs: { reasoning_content: "_ADDRESS_1]" } },
        { content: "To [REDACTED_EMAIL", id: "m1" },
        { content: "", tool_call_chunks: [{ index: 0, id: "c1", name: "lookup", args: '{"mail":"[REDACTED' }] },
        { content: "_ADDRESS_1] ", id: "m1" },
        { content: "", tool_call_chunks: [{ index: 0, args: '_EMAIL_ADDRESS_1]"}' }] },
        { content: "", tool_call_chunks: [{ index: 1, id: "c2", name: "lookup", args: "{}" }] },
        { content: TOKEN, response_metadata: { logprobs: ["secret"], finish_reason: "tool_calls" }, usage_metadata },
      ],
    });
    const chunks = await collect(await model.stream(hello));
    const withCalls = chunks.map((chunk) => (chunk.tool_call_chunks?.length ?? 0) > 0);
    expect(withCalls.indexOf(true)).toBe(chunks.length - 1);
    const [first, ...rest] = chunks as [AIMessageChunk, ...AIMessageChunk[]];
    const message = rest.reduce((message, chunk) => message.concat(chunk), first);
    expect(message).toMatchObject({
      id: "m1",
      content: `To ${MAIL} ${TOKEN_REPLACEMENT}`,
      additional_kwargs: { reasoning_content: `Hm, ${MAIL}` },
      tool_calls: [
        { id: "c1", name: "lookup", args: { mail: MAIL } },
        { id: "c2", name: "lookup", args: {} },
      ],
      response_metadata: { finish_reason: "tool_calls" },
      usage_metadata,
    });
    expect(JSON.stringify(chunks)).not.toMatch(/secret|REDACTED/);
  });

  it("of content blocks keeps them apart, with their tool calls", async () => {
    const block = (type: string, index: number, more: object) => ({ content: [{ type, index, ...more }] as never });
    const { model } = await scripted({
      chunks: [
        block("thinking", 0, { thinking: "Is it [REDACTED_EMAIL" }),
        block("thinking", 0, { thinking: "_ADDRESS_1]?" }),
        block("thinking", 0, { thinking: "", signature: "s" }),
        block("text", 1, { text: "To [REDACTED_" }),
        block("text", 1, { text: "EMAIL_ADDRESS_1]" }),
        {
          ...block("tool_use", 2, { id: "c1", name: "lookup", input: "" }),
          tool_call_chunks: [{ index: 2, id: "c1", name: "lookup", args: "" }],
        },
        {
          ...block("input_json_delta", 2, { input: `{"mail":"${PLACEHOLDER}"}` }),
          tool_call_chunks: [{ index: 2, args: `{"mail":"${PLACEHOLDER}"}` }],
        },
      ],
    });
    const message = await joined(await model.stream(hello));
    expect(message.tool_calls).toMatchObject([{ id: "c1", name: "lookup", args: { mail: MAIL } }]);
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: `Is it ${MAIL}?`, signature: "s" },
      { type: "text", text: `To ${MAIL}` },
      { id: "c1", name: "lookup", input: JSON.stringify({ mail: MAIL }) },
    ]);
  });

  it.each<[string, Script]>([
    ["a text", piecesOf(`x ${FORBIDDEN} y`)],
    ["a text in pieces", piecesOf("x FORB", "IDDEN y")],
    ["thoughts", { chunks: [{ content: "", additional_kwargs: { reasoning_content: FORBIDDEN } }] }],
    ["a block", { chunks: [{ content: [{ type: "thinking", index: 0, thinking: FORBIDDEN }] as never }] }],
    [
      "a call",
      { chunks: [{ content: "x " }, { content: "", tool_call_chunks: [{ index: 0, id: "c", args: FORBIDDEN }] }] },
    ],
    [
      "a text behind a call",
      { chunks: [{ content: "", tool_call_chunks: [{ index: 0, id: "c", args: "{}" }] }, { content: FORBIDDEN }] },
    ],
  ])("stops if something is blocked: %s", async (_, script) => {
    for (const guard of [await testGuard(), wordByWordGuard()]) {
      const model = guardChatModel(new RecordingModel(script), guard);
      let shown = "";
      const calls: unknown[] = [];
      const reading = (async () => {
        for await (const { content, tool_call_chunks = [] } of await model.stream("Hi")) {
          shown += content;
          calls.push(...tool_call_chunks);
        }
      })();
      await expect(reading).rejects.toThrow(GuardBlockedError);
      expect("x ".startsWith(shown)).toBe(true);
      expect(calls).toEqual([]);
    }
  });

  it("releases words as soon as possible, and stops the model when the reader stops", async () => {
    const inner = new RecordingModel(piecesOf("one two", " three ", "four"));
    const model = guardChatModel(inner, wordByWordGuard());
    for await (const { content } of await model.stream("Hi")) {
      expect(content).toBe("one ");
      break;
    }
    expect(inner.hasEnded).toBe(false);
  });
});

describe("a guarded model", () => {
  it("works in chains, with parsers, batches and events", async () => {
    const { inner, model } = await scripted({
      answer: `To ${PLACEHOLDER}`,
      ...piecesOf("To [REDACTED_EMAIL_", "ADDRESS_1]"),
    });
    const chain = ChatPromptTemplate.fromMessages([
      ["system", "Be kind."],
      ["human", "I am {mail}"],
    ])
      .pipe(model)
      .pipe(new StringOutputParser());
    expect(await chain.invoke({ mail: MAIL })).toBe(`To ${MAIL}`);
    expect(await chain.batch([{ mail: MAIL }, { mail: "bob@example.com" }])).toEqual([
      `To ${MAIL}`,
      "To bob@example.com",
    ]);
    expect((await collect(await chain.stream({ mail: MAIL }))).join("")).toBe(`To ${MAIL}`);
    expect(JSON.stringify(inner.sent)).not.toContain("@example.com");

    // No event contains the original answer: the only model in the events is the guarded one.
    const events = await collect(chain.streamEvents({ mail: MAIL }, { version: "v2" }));
    const ofModel = events.filter(({ event }) => event.startsWith("on_chat_model"));
    expect(new Set(ofModel.map(({ name }) => name))).toEqual(new Set(["GuardedChatModel"]));
    expect(new Set(ofModel.map(({ event }) => event))).toEqual(
      new Set(["on_chat_model_start", "on_chat_model_stream", "on_chat_model_end"]),
    );
    expect(JSON.stringify(events)).not.toContain("REDACTED");
    const tokens: string[] = [];
    await chain.invoke({ mail: MAIL }, { callbacks: [{ handleLLMNewToken: (token) => void tokens.push(token) }] });
    expect(tokens.join("")).not.toContain("REDACTED");
  });

  it("supports the newer event protocol", async () => {
    const { model } = await scripted(piecesOf("To [REDACTED_EMAIL_", "ADDRESS_1]"));
    const events = await collect(model.streamEvents(hello, { version: "v3" } as never) as AsyncIterable<unknown>);
    expect(JSON.stringify(events)).toContain(MAIL);
    expect(JSON.stringify(events)).not.toContain("REDACTED");
  });

  it("runs a tool loop in which a value keeps its placeholder", async () => {
    const { inner, model } = await scripted((count) => ({
      answer:
        count === 1
          ? { content: "", tool_calls: [{ id: "c1", name: "lookup", args: { mail: PLACEHOLDER } }] }
          : `${PLACEHOLDER} is known.`,
    }));
    const agent = model.bindTools([lookup]);
    const messages: BaseMessage[] = [new HumanMessage(`Who is ${MAIL}?`)];
    const calling = await agent.invoke(messages);
    const [call] = calling.tool_calls ?? [];
    expect(call?.args).toEqual({ mail: MAIL });
    messages.push(calling, await lookup.invoke({ ...call, type: "tool_call" } as never));
    expect((await agent.invoke(messages)).content).toBe(`${MAIL} is known.`);
    expect(JSON.stringify(inner.sent)).not.toContain(MAIL);
    expect(inner.sent[1]?.messages.map(({ content }) => content)).toEqual([
      `Who is ${PLACEHOLDER}?`,
      "",
      `Knows ${PLACEHOLDER}`,
    ]);
  });

  it("returns structured answers", async () => {
    const schema = z.object({ mail: z.string() });
    const { inner, model } = await scripted({
      answer: { content: "", tool_calls: [{ id: "c1", name: "extract", args: { mail: PLACEHOLDER } }] },
      chunks: [
        { content: "", tool_call_chunks: [{ index: 0, id: "c1", name: "extract", args: `{"mail":"${PLACEHOLDER}"}` }] },
      ],
    });
    // LangChain's default implementation reads tool calls from chunks only.
    expect(await collect(await model.withStructuredOutput(schema).stream(hello))).toEqual([{ mail: MAIL }]);
    const both = await collect(await model.withStructuredOutput(schema, { includeRaw: true }).stream(hello));
    expect(Object.assign({}, ...both)).toMatchObject({ parsed: { mail: MAIL } });
    const sent = inner.sent.length;
    await expect(model.withStructuredOutput(schema).stream(FORBIDDEN).then(collect)).rejects.toThrow(GuardBlockedError);
    expect(inner.sent).toHaveLength(sent);
  });

  it("stays guarded with bound options, bound before or after", async () => {
    const answer = { answer: `To ${PLACEHOLDER}` };
    const guard = await testGuard();
    const bound = new RecordingModel(answer).bindTools([lookup]);
    const models = [
      guardChatModel(bound, guard),
      guardChatModel(new RecordingModel(answer).withConfig({ stop: ["x"] }), guard),
      guardChatModel(new RecordingModel(answer), guard).withConfig({ stop: ["x"] }),
      guardChatModel(new RecordingModel(answer).withRetry(), guard),
      guardChatModel(new RecordingModel(answer).withFallbacks([new RecordingModel(answer)]), guard),
    ];
    for (const model of models) expect((await model.invoke(hello)).content).toBe(`To ${MAIL}`);
    expect(() => guardChatModel(new StringOutputParser() as never, guard)).toThrow(/expected a chat model/);
  });

  it("wraps any model: those of LangChain's own tests", async () => {
    const guard = await testGuard();
    const list = guardChatModel(new FakeListChatModel({ responses: [`To ${PLACEHOLDER}`] }), guard);
    expect((await list.invoke(hello)).content).toBe(`To ${MAIL}`);
    expect((await joined(await list.stream(hello))).content).toBe(`To ${MAIL}`);
    await expect(list.invoke(FORBIDDEN)).rejects.toThrow(GuardBlockedError);
    expect((await list.bindTools([lookup]).invoke(hello)).content).toBe(`To ${MAIL}`);
    await expect(list.withStructuredOutput(z.object({})).invoke(FORBIDDEN)).rejects.toThrow(GuardBlockedError);

    const calls = [{ id: "c1", name: "lookup", args: { mail: PLACEHOLDER } }];
    const inner = new FakeStreamingChatModel({ chunks: [{ content: "", tool_calls: calls } as never] });
    const streaming = guardChatModel(inner, guard);
    const message = await joined(await streaming.bindTools([lookup]).stream(hello));
    expect(message.tool_calls).toMatchObject([{ name: "lookup", args: { mail: MAIL } }]);
  });

  it("fails if guard cannot check, and passes nothing", async () => {
    const error = new GuardError("GUARD_UNREACHABLE", "The guard server cannot be reached.");
    const inner = new RecordingModel({ answer: "Hi", ...piecesOf("Hi") });
    const model = guardChatModel(inner, brokenGuard(error), { onBlocked: () => "Sorry." });
    await expect(model.invoke("Hi")).rejects.toBe(error);
    await expect(model.stream("Hi").then(collect)).rejects.toBe(error);
    expect(inner.sent).toEqual([]);
    const passing = wordByWordGuard().call();
    const half = { ...brokenGuard(error), call: () => ({ ...brokenGuard(error).call(), request: passing.request }) };
    const halfway = guardChatModel(inner, half);
    await expect(halfway.invoke("Hi")).rejects.toBe(error);
    await expect(halfway.stream("Hi").then(collect)).rejects.toBe(error);
  });
});
