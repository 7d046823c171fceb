import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Guard, GuardReport } from "../../src/guard/guard.ts";
import { GuardBlockedError, type GuardedModelOptions, guardMiddleware } from "../../src/integrations/ai-sdk.ts";
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

const MAIL = "ann@example.com";
const PLACEHOLDER = "[REDACTED_EMAIL_ADDRESS_1]";
const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 },
};
const FINISH = { type: "finish", usage: USAGE, finishReason: { unified: "stop", raw: "stop" } } as const;

interface Scripted {
  content?: LanguageModelV3Content[];
  /** The parts of the stream. A function produces them on demand. */
  parts?: readonly LanguageModelV3StreamPart[] | (() => ReadableStream<LanguageModelV3StreamPart>);
}

/** A guarded model with a scripted answer, and the calls that it received. */
function scripted(guard: Guard, { content = [], parts = [] }: Scripted, options?: GuardedModelOptions) {
  const asked: LanguageModelV3CallOptions[] = [];
  const inner = new MockLanguageModelV3({
    doGenerate: async (options) => {
      asked.push(options);
      const response = { id: "r", body: { content } };
      const providerMetadata = { fake: { logprobs: [{ token: "secret" }], tier: "x" } };
      return { content, finishReason: FINISH.finishReason, usage: USAGE, warnings: [], response, providerMetadata };
    },
    doStream: async (options) => {
      asked.push(options);
      return { stream: typeof parts === "function" ? parts() : streamFrom(parts) };
    },
  });
  const model = wrapLanguageModel({ model: inner, middleware: guardMiddleware(guard, options) });
  const streamed = async (options: LanguageModelV3CallOptions = { prompt: hello }) =>
    collect((await model.doStream(options)).stream as unknown as AsyncIterable<LanguageModelV3StreamPart>);
  return { model, asked, streamed };
}

const hello: LanguageModelV3Prompt = [{ role: "user", content: [{ type: "text", text: `I am ${MAIL}` }] }];

function streamFrom(parts: readonly LanguageModelV3StreamPart[]): ReadableStream<LanguageModelV3StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** The stream parts of a text. */
function text(id: string, ...pieces: string[]): LanguageModelV3StreamPart[] {
  return [
    { type: "text-start", id },
    ...pieces.map((delta) => ({ type: "text-delta" as const, id, delta })),
    { type: "text-end", id },
  ];
}

function call(toolCallId: string, input: string, more: { providerExecuted?: boolean } = {}) {
  return { type: "tool-call", toolCallId, toolName: "act", input, ...more } as const;
}

describe("a prompt", () => {
  const image = { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) } as const;
  const output = (output: unknown) =>
    [
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "c1", toolName: "act", output }],
      },
    ] as LanguageModelV3Prompt;
  const base64 = (value: string) => Buffer.from(value).toString("base64");
  const content = (value: string) =>
    output({
      type: "content",
      value: [
        { type: "text", text: `Of ${value}` },
        { type: "image-data", data: "AAAA", mediaType: "image/png" },
        { type: "file-data", data: base64(`Of ${value}`), mediaType: "text/csv", filename: "a.csv" },
        { type: "image-url", url: "https://example.com/a.png" },
        { type: "custom" },
      ],
    });
  const shapes: [string, (value: string) => LanguageModelV3Prompt, number?][] = [
    ["system", (value) => [{ role: "system", content: `For ${value}` }]],
    [
      "texts of a user beside an image",
      (value) => [{ role: "user", content: [{ type: "text", text: "Look" }, image, { type: "text", text: value }] }],
      1,
    ],
    [
      "a file of text",
      (value) => [{ role: "user", content: [{ type: "file", mediaType: "text/plain", data: base64(`Of ${value}`) }] }],
    ],
    [
      "a file of text in bytes",
      (value) => [{ role: "user", content: [{ type: "file", mediaType: "text/plain", data: Buffer.from(value) }] }],
    ],
    [
      "a file elsewhere",
      (value) => [
        {
          role: "user",
          content: [
            { type: "file", mediaType: "application/pdf", data: new URL("https://example.com/a.pdf") },
            { type: "text", text: value },
          ],
        },
      ],
      1,
    ],
    [
      "what the model said, thought and did",
      (value) => [
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: `Hm, ${value}`, providerOptions: { fake: { signature: "x" } } },
            { type: "text", text: `So ${value}` },
            { type: "tool-call", toolCallId: "c1", toolName: "act", input: { to: [value], count: 2, none: null } },
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "act",
              output: { type: "text", value: `Did ${value}` },
            },
          ],
        },
      ],
    ],
    [
      "a call with a text that is no JSON",
      (value) => [
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "c1", toolName: "act", input: `to: ${value}` }],
        },
      ],
    ],
    ["a text from a tool", (value) => output({ type: "text", value: `Of ${value}` })],
    ["an error of a tool", (value) => output({ type: "error-text", value: `No ${value}` })],
    ["JSON from a tool", (value) => output({ type: "json", value: { rows: [{ mail: value, age: 3 }], next: null } })],
    ["a string of JSON from a tool", (value) => output({ type: "json", value })],
    ["an error of JSON", (value) => output({ type: "error-json", value: [value, true] })],
    ["a denial", (value) => output({ type: "execution-denied", reason: `Not to ${value}` })],
    ["parts from a tool", content, 3],
    [
      "why the user approves of a call",
      (value) => [
        {
          role: "tool",
          content: [
            { type: "tool-approval-response", approvalId: "a", approved: true },
            { type: "tool-approval-response", approvalId: "b", approved: false, reason: `Not to ${value}` },
          ],
        },
      ],
    ],
  ];

  it.each(shapes)("reaches the model with placeholders: %s", async (_, prompt, skipped = 0) => {
    const reports: GuardReport[] = [];
    const { model, asked } = scripted(await testGuard(), {}, { onReport: (_, report) => void reports.push(report) });
    const given = prompt(MAIL);
    await model.doGenerate({ prompt: given });
    expect(asked[0]?.prompt).toEqual(prompt(PLACEHOLDER));
    expect(given).toEqual(prompt(MAIL));
    expect(reports[0]?.coverage.partsSkipped).toBe(skipped);
  });

  it.each(shapes)("is the same object if nothing is found: %s", async (_, prompt) => {
    const { model, asked } = scripted(await testGuard(), {});
    const given = prompt("nobody");
    await model.doGenerate({ prompt: given });
    for (const [index, message] of given.entries()) expect(asked[0]?.prompt[index]).toBe(message);
  });

  it.each(shapes)("never reaches the model if it is blocked: %s", async (_, prompt) => {
    const { model, asked } = scripted(await testGuard(), {});
    const calls = [model.doGenerate({ prompt: prompt(FORBIDDEN) }), model.doStream({ prompt: prompt(FORBIDDEN) })];
    await Promise.all(calls.map((call) => expect(call).rejects.toThrow(GuardBlockedError)));
    expect(asked).toEqual([]);
  });

  it("has placeholders in the definitions of tools", async () => {
    const { model, asked } = scripted(await testGuard(), {});
    const tools = (value: string): NonNullable<LanguageModelV3CallOptions["tools"]> => [
      {
        type: "function",
        name: "act",
        description: `Ask ${value}`,
        inputSchema: { type: "object", properties: { to: { type: "string", description: `Not ${value}` } } },
        inputExamples: [{ input: { to: value } }],
      },
      { type: "function", name: "rest", inputSchema: { type: "object" } },
      { type: "provider", id: "fake.search", name: "search", args: { hint: `Skip ${value}` } },
    ];
    await model.doGenerate({ prompt: hello, tools: tools(MAIL) });
    expect(asked[0]?.tools).toEqual(tools(PLACEHOLDER));
    await expect(model.doGenerate({ prompt: hello, tools: tools(FORBIDDEN) })).rejects.toThrow(GuardBlockedError);
    expect(asked).toHaveLength(1);
  });

  it("has placeholders in the options of the provider, and none in its ids", async () => {
    const { model, asked } = scripted(await testGuard(), {});
    const openai = { instructions: `Write to ${MAIL}`, user: "u-1", previousResponseId: "resp_1", store: false };
    await model.doGenerate({ prompt: hello, providerOptions: { openai }, stopSequences: ["\n\nHuman:"] });
    expect(asked[0]?.providerOptions).toEqual({ openai: { ...openai, instructions: `Write to ${PLACEHOLDER}` } });
    expect(asked[0]?.stopSequences).toEqual(["\n\nHuman:"]);
    await expect(
      model.doGenerate({ prompt: hello, providerOptions: { openai: { instructions: FORBIDDEN } } }),
    ).rejects.toThrow(GuardBlockedError);
  });

  it("checks the options of several providers, and mixes up none of them", async () => {
    const { model, asked } = scripted(await testGuard(), {});
    const options = (value: string) => ({
      openai: { note: `Write to ${value}`, reasoningEffort: "high", stopSequences: ["\n\nUser:"] },
      azure: { note: "Write to nobody", reasoningEffort: "low" },
    });
    await model.doGenerate({ prompt: hello, providerOptions: options(MAIL), stopSequences: ["\n\nHuman:"] });
    expect(asked[0]?.providerOptions).toEqual(options(PLACEHOLDER));
    expect(asked[0]?.stopSequences).toEqual(["\n\nHuman:"]);
    const providerOptions = { openai: { note: `Write ${FORBIDDEN}` }, azure: { note: "Write to nobody" } };
    await expect(model.doGenerate({ prompt: hello, providerOptions })).rejects.toThrow(GuardBlockedError);
  });

  it("of any text passes unchanged if nothing is found", async () => {
    const guard = await testGuard();
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary" }),
        fc.jsonValue(),
        fc.string({ unit: "grapheme" }),
        async (words, json, answer) => {
          fc.pre(!JSON.stringify([words, json]).includes("@"));
          const { model, asked } = scripted(guard, { content: [{ type: "text", text: answer }] });
          const [first] = hello;
          const prompt = [
            first,
            { role: "assistant", content: [call("c1", words), { type: "text", text: words }] },
            {
              role: "tool",
              content: [
                { type: "tool-result", toolCallId: "c1", toolName: "act", output: { type: "json", value: json } },
                { type: "tool-result", toolCallId: "c1", toolName: "act", output: { type: "text", value: words } },
              ],
            },
            { role: "user", content: [{ type: "text", text: words }] },
          ] as LanguageModelV3Prompt;
          const { content } = await model.doGenerate({ prompt });
          expect(asked[0]?.prompt.slice(1)).toEqual(prompt.slice(1));
          expect(content).toEqual([{ type: "text", text: answer }]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("an answer", () => {
  it("is restored in texts, reasoning and tool calls, with all other fields", async () => {
    const source = { type: "source", sourceType: "url", id: "s", url: "https://example.com" } as const;
    const { model } = scripted(await testGuard(), {
      content: [
        { type: "reasoning", text: `Is it ${PLACEHOLDER}?` },
        { type: "text", text: `To ${PLACEHOLDER}`, providerMetadata: { fake: { id: "t" } } },
        source,
        { type: "text", text: "and." },
        call("c1", JSON.stringify({ to: PLACEHOLDER })),
        call("c2", "{}"),
      ],
    });
    const result = await model.doGenerate({ prompt: hello });
    expect(result.content).toEqual([
      { type: "reasoning", text: `Is it ${MAIL}?` },
      { type: "text", text: `To ${MAIL}`, providerMetadata: { fake: { id: "t" } } },
      source,
      { type: "text", text: "and." },
      call("c1", JSON.stringify({ to: MAIL })),
      call("c2", "{}"),
    ]);
    // The tokens and the response body contain the original answer, so they are removed.
    expect(result).toMatchObject({ usage: USAGE, response: { id: "r" }, providerMetadata: { fake: { tier: "x" } } });
    expect(JSON.stringify(result)).not.toContain("secret");
    expect(result.response?.body).toBeUndefined();
  });

  it.each<LanguageModelV3Content>([
    { type: "text", text: FORBIDDEN },
    { type: "reasoning", text: FORBIDDEN },
    call("c1", JSON.stringify({ to: FORBIDDEN })),
    call("c1", `not JSON: ${FORBIDDEN}`),
    call("c1", JSON.stringify({ to: FORBIDDEN }), { providerExecuted: true }),
  ])("is blocked for any of its parts: %j", async (part) => {
    const { model } = scripted(await testGuard(), { content: [{ type: "text", text: "Fine." }, part] });
    await expect(model.doGenerate({ prompt: hello })).rejects.toMatchObject({ part: "answer" });
  });

  it("ends with the caller's text when it is blocked, and with the usage", async () => {
    const onBlocked = () => "Sorry.";
    const { model } = scripted(await testGuard(), { content: [{ type: "text", text: FORBIDDEN }] }, { onBlocked });
    expect(await model.doGenerate({ prompt: hello })).toEqual({
      content: [{ type: "text", text: "Sorry." }],
      finishReason: { unified: "content-filter", raw: undefined },
      usage: USAGE,
      warnings: [],
      response: { id: "r" },
    });
  });
});

describe("a stream", () => {
  it("has well-formed parts in the order of the answer, without raw ones", async () => {
    const start = { type: "tool-input-start", id: "c1", toolName: "act" } as const;
    const search = { type: "tool-input-start", id: "s1", toolName: "search", providerExecuted: true } as const;
    const parts: LanguageModelV3StreamPart[] = [
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "r" },
      { type: "raw", rawValue: { text: "secret" } },
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: `Is it ${PLACEHOLDER}?` },
      { type: "reasoning-end", id: "r", providerMetadata: { fake: { signature: "s" } } },
      search,
      { type: "tool-input-delta", id: "s1", delta: "{}" },
      { type: "tool-input-end", id: "s1" },
      call("s1", JSON.stringify({ q: PLACEHOLDER }), { providerExecuted: true }),
      { type: "tool-result", toolCallId: "s1", toolName: "search", result: { hits: 1 } },
      ...text("1", "To [REDACTED_EMAIL_", "ADDRESS_1]"),
      start,
      { type: "tool-input-delta", id: "c1", delta: '{"to":"[REDACTED_EMAIL' },
      { type: "tool-input-delta", id: "c1", delta: '_ADDRESS_1]"}' },
      { type: "tool-input-end", id: "c1" },
      call("c1", JSON.stringify({ to: PLACEHOLDER })),
      ...text("2", "Done."),
      { ...FINISH, providerMetadata: { fake: { logprobs: ["secret"], tier: "x" } } },
    ];
    const { streamed } = scripted(await testGuard(), { parts });
    expect(await streamed()).toEqual([
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "r" },
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: `Is it ${MAIL}?` },
      { type: "reasoning-end", id: "r", providerMetadata: { fake: { signature: "s" } } },
      search,
      { type: "tool-input-delta", id: "s1", delta: JSON.stringify({ q: MAIL }) },
      { type: "tool-input-end", id: "s1" },
      call("s1", JSON.stringify({ q: MAIL }), { providerExecuted: true }),
      { type: "tool-result", toolCallId: "s1", toolName: "search", result: { hits: 1 } },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: `To ${MAIL}` },
      { type: "text-end", id: "1" },
      start,
      { type: "tool-input-delta", id: "c1", delta: JSON.stringify({ to: MAIL }) },
      { type: "tool-input-end", id: "c1" },
      call("c1", JSON.stringify({ to: MAIL })),
      ...text("2", "Done."),
      { ...FINISH, providerMetadata: { fake: { tier: "x" } } },
    ]);
  });

  it("keeps concurrent texts apart", async () => {
    const parts: LanguageModelV3StreamPart[] = [
      { type: "text-start", id: "1" },
      { type: "text-start", id: "2" },
      { type: "reasoning-start", id: "1" },
      { type: "text-delta", id: "1", delta: "one [REDACTED_EMAIL_" },
      { type: "reasoning-delta", id: "1", delta: "three sk-" },
      { type: "text-delta", id: "2", delta: "two sk-to" },
      { type: "text-delta", id: "1", delta: "ADDRESS_1]" },
      { type: "text-delta", id: "2", delta: "ken" },
      { type: "reasoning-delta", id: "1", delta: "token" },
      { type: "text-end", id: "2" },
      { type: "text-end", id: "1" },
      { type: "reasoning-end", id: "1" },
      FINISH,
    ];
    const { streamed } = scripted(await testGuard(), { parts });
    const texts: Record<string, string> = {};
    for (const part of await streamed()) {
      if (part.type !== "text-delta" && part.type !== "reasoning-delta") continue;
      const key = `${part.type} ${part.id}`;
      texts[key] = (texts[key] ?? "") + part.delta;
    }
    expect(texts).toEqual({
      "text-delta 1": `one ${MAIL}`,
      "text-delta 2": `two ${TOKEN_REPLACEMENT}`,
      "reasoning-delta 1": `three ${TOKEN_REPLACEMENT}`,
    });
    expect(TOKEN).toBe("sk-token");
  });

  it.each([
    ["a text", text("1", `x ${FORBIDDEN} y`)],
    ["a text in pieces", text("1", "x FORB", "IDDEN y")],
    ["a call", [...text("1", "x "), call("c1", JSON.stringify({ to: FORBIDDEN }))]],
    ["a call of the provider's tool", [call("c1", FORBIDDEN, { providerExecuted: true })]],
    ["a text behind a call", [call("c1", "{}"), ...text("1", FORBIDDEN)]],
  ])("ends with an error if something is blocked: %s", async (_, parts) => {
    for (const guard of [await testGuard(), wordByWordGuard()]) {
      const { streamed } = scripted(guard, { parts: [...parts, FINISH] });
      const got = await streamed();
      expect(got.slice(-2)).toMatchObject([
        { type: "error", error: { code: "GUARD_BLOCKED", part: "answer" } },
        { type: "finish", finishReason: { unified: "error" } },
      ]);
      const started = got.filter(({ type }) => type === "text-start").length;
      expect(got.filter(({ type }) => type === "text-end")).toHaveLength(started);
      expect(got.filter(({ type }) => type.startsWith("tool"))).toEqual([]);
      const shown = got.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
      expect("x ".startsWith(shown)).toBe(true);
    }
  });

  it("ends with the caller's text if something is blocked", async () => {
    const { streamed } = scripted(
      wordByWordGuard(),
      { parts: text("1", "x ", FORBIDDEN) },
      { onBlocked: () => "Sorry." },
    );
    expect(await streamed()).toMatchObject([
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "x " },
      { type: "text-end", id: "1" },
      { type: "text-start", id: "guard-blocked" },
      { type: "text-delta", delta: "Sorry." },
      { type: "text-end" },
      { type: "finish", finishReason: { unified: "content-filter" } },
    ]);
  });

  it("releases a text as soon as possible, and text that has waited too long", async () => {
    let more: (part: LanguageModelV3StreamPart) => void = () => {};
    const parts = () =>
      new ReadableStream<LanguageModelV3StreamPart>({
        start(controller) {
          more = (part) => controller.enqueue(part);
        },
      });
    const { model } = scripted(wordByWordGuard({ waiting: 1 }), { parts });
    const { stream } = await model.doStream({ prompt: hello });
    const reader = stream.getReader();
    more({ type: "text-start", id: "1" });
    more({ type: "text-delta", id: "1", delta: "some wor" });
    expect((await reader.read()).value).toEqual({ type: "text-start", id: "1" });
    expect((await reader.read()).value).toEqual({ type: "text-delta", id: "1", delta: "some " });
    // The model sends nothing more.
    expect((await reader.read()).value).toEqual({ type: "text-delta", id: "1", delta: "wor" });
    more({ type: "text-delta", id: "1", delta: "ds " });
    expect((await reader.read()).value).toEqual({ type: "text-delta", id: "1", delta: "ds " });
    await reader.cancel();
  });

  it("aborts the model when the reader stops, when a check fails, and when the caller aborts", async () => {
    const endless = () => {
      let reason: unknown;
      let pulls = 0;
      const stream = () =>
        new ReadableStream<LanguageModelV3StreamPart>(
          {
            pull(controller) {
              pulls += 1;
              if (pulls === 1) controller.enqueue({ type: "text-start", id: "1" });
              else controller.enqueue({ type: "text-delta", id: "1", delta: pulls < 5 ? "x " : FORBIDDEN });
            },
            cancel(why) {
              reason = why ?? "none";
            },
          },
          { highWaterMark: 0 },
        );
      return { stream, pulls: () => pulls, reason: () => reason };
    };
    const left = endless();
    const { model } = scripted(wordByWordGuard(), { parts: left.stream });
    const reader = (await model.doStream({ prompt: hello })).stream.getReader();
    await reader.read();
    await reader.cancel("enough");
    expect(left.reason()).toBe("enough");
    // A slow reader slows the model down.
    expect(left.pulls()).toBe(1);

    const blocked = endless();
    await scripted(wordByWordGuard(), { parts: blocked.stream }).streamed();
    expect(blocked.reason()).toBe("none");

    const stop = new AbortController();
    const stalled = { ...endless(), reason: undefined as unknown };
    const silent = () =>
      new ReadableStream<LanguageModelV3StreamPart>({
        cancel(reason) {
          stalled.reason = reason;
        },
      });
    const waiting = scripted(wordByWordGuard(), { parts: silent }).streamed({
      prompt: hello,
      abortSignal: stop.signal,
    });
    await new Promise(setImmediate);
    stop.abort("stop");
    await waiting;
    expect(stalled.reason).toBe("stop");
  });

  it("passes errors of the model on, and checks an incomplete answer", async () => {
    const error = new Error("away");
    const { streamed } = scripted(await testGuard(), {
      parts: [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: `To ${PLACEHOLDER}` },
        { type: "error", error },
      ],
    });
    expect(await streamed()).toEqual([
      { type: "text-start", id: "1" },
      { type: "error", error },
      { type: "text-delta", id: "1", delta: `To ${MAIL}` },
    ]);
    const failing = scripted(await testGuard(), {
      parts: () =>
        new ReadableStream({
          pull(controller) {
            controller.error(error);
          },
        }),
    });
    await expect(failing.streamed()).rejects.toBe(error);
  });
});

it("fails if guard cannot check, and passes nothing", async () => {
  const error = new GuardError("GUARD_UNREACHABLE", "The guard server cannot be reached.");
  const { model, asked, streamed } = scripted(brokenGuard(error), {}, { onBlocked: () => "Sorry." });
  await expect(model.doGenerate({ prompt: hello })).rejects.toBe(error);
  await expect(streamed()).rejects.toBe(error);
  expect(asked).toEqual([]);

  // This guard fails in the middle of an answer.
  const passing = wordByWordGuard().call();
  const half: Guard = {
    call: () => ({ ...brokenGuard(error).call(), request: passing.request }),
    close: async () => {},
  };
  const halfway = scripted(half, { content: [{ type: "text", text: "Hi" }], parts: text("1", "Hi") });
  await expect(halfway.model.doGenerate({ prompt: hello })).rejects.toBe(error);
  const errors: unknown[] = [];
  const result = streamText({ model: halfway.model, prompt: "Hi", onError: ({ error }) => void errors.push(error) });
  const parts = await collect(result.fullStream);
  expect(parts.map(({ type }) => type)).not.toContain("text-delta");
  expect(errors).toEqual([error]);
});

it("fails if guard returns a request of another shape", async () => {
  const passing = wordByWordGuard().call();
  const wrong: Guard = {
    call: () => ({
      ...passing,
      request: async (chat) => ({ ...(await passing.request(chat)), request: { messages: [] } }),
    }),
    close: async () => {},
  };
  const { model, asked } = scripted(wrong, {});
  await expect(model.doGenerate({ prompt: hello })).rejects.toMatchObject({ code: "GUARD_UNREACHABLE" });
  expect(asked).toEqual([]);
});
