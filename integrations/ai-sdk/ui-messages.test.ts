import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";
import {
  convertToModelMessages,
  readUIMessageStream,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { expect, it } from "vitest";
import { z } from "zod";
import { adaptCall } from "../../src/integrations/ai-sdk/call.ts";
import { readConversation } from "../../src/messages/read-conversation.ts";
import type { ChatRequest } from "../../src/scan/chat-request.ts";
import { FORBIDDEN, testGuard } from "../../test/support/guards.ts";

const requestOf = (messages: readonly UIMessage[]) => ({ messages }) as unknown as ChatRequest;

/** What guard reads of a request, without the positions. */
const textsOf = (request: ChatRequest) =>
  readConversation(request)
    .texts.flatMap(({ source, text, pieces }) => pieces.map(({ start, end }) => [source, text.slice(start, end)]))
    .sort();

const question = (text: string): UIMessage => ({ id: "q", role: "user", parts: [{ type: "text", text }] });

/** Lets the SDK call a tool with this result, and returns the message that its client keeps. */
async function answerWith(result: unknown): Promise<UIMessage> {
  const finish = (unified: "stop" | "tool-calls"): LanguageModelV3StreamPart => ({
    type: "finish",
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
  });
  const turns: LanguageModelV3StreamPart[][] = [
    [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: '{"page":"a page"}' }, finish("tool-calls")],
    [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Done." },
      { type: "text-end", id: "t" },
      finish("stop"),
    ],
  ];
  const model = new MockLanguageModelV3({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: turns.shift() ?? [] }) }),
  });
  const look = tool({ inputSchema: z.object({ page: z.string() }), execute: async () => result });
  const answer = streamText({ model, prompt: "Look at it", tools: { look }, stopWhen: stepCountIs(2) });
  let message: UIMessage | undefined;
  for await (message of readUIMessageStream({ stream: answer.toUIMessageStream() }));
  if (!message) throw new Error("The stream has no message.");
  return message;
}

it("judges the result of a tool in a message of the SDK as a text of a tool", async () => {
  const guard = await testGuard();
  const report = async (result: unknown) => {
    const answer = await answerWith(result);
    expect(answer.parts.map(({ type }) => type)).toEqual(["step-start", "tool-look", "step-start", "text"]);
    return (await guard.call().request(requestOf([question("Look at it"), answer]))).report;
  };
  for (const result of ["It rains.", { sky: "clear" }, [1, 2], null, "空は青い 🌤"]) {
    expect((await report(result)).outcome).toBe("passed");
  }
  for (const result of [
    `Say ${FORBIDDEN}`,
    { notes: [{ id: FORBIDDEN }] },
    { content: [{ type: "text", text: FORBIDDEN }] },
  ]) {
    const { outcome, checks } = await report(result);
    expect(outcome).toBe("blocked");
    expect(checks.filter(({ isValid }) => !isValid).map(({ scope }) => scope)).toEqual(["tool"]);
  }
});

it("puts placeholders at the same place, so that the SDK accepts the message", async () => {
  const guard = await testGuard();
  const answer = await answerWith({ author: "ann@example.org", stars: 5 });
  const { request } = await guard.call().request(requestOf([question("Who is it?"), answer]));
  const messages = await validateUIMessages({ messages: request.messages });
  expect(messages[1]?.parts[1]).toEqual({
    ...answer.parts[1],
    output: { author: "[REDACTED_EMAIL_ADDRESS_1]", stars: 5 },
  });
});

it("reads what the model gets of each kind of part, with the same sources", async () => {
  const call = { toolCallId: "c1", input: { city: "Berlin" } };
  const parts: UIMessage["parts"] = [
    { type: "step-start" },
    { type: "reasoning", text: "The weather is asked for.", state: "done" },
    {
      type: "text",
      text: "One moment.",
      state: "done",
      providerMetadata: { openai: { itemId: `msg_${"0a".repeat(24)}` } },
    },
    { type: "tool-look", state: "output-available", ...call, output: { sky: "clear" } },
    { type: "tool-look", state: "output-error", ...call, toolCallId: "c2", errorText: "No answer" },
    {
      type: "dynamic-tool",
      toolName: "look",
      state: "output-available",
      ...call,
      toolCallId: "c3",
      output: "It rains.",
    },
    { type: "file", mediaType: "text/plain", url: "data:text/plain;base64,SXQgcmFpbnMu" },
  ];
  const messages: UIMessage[] = [
    { id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] },
    question("How is the weather?"),
    { id: "a", role: "assistant", parts },
  ];
  await validateUIMessages({ messages });
  const sent = new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks: [] }) }) });
  await streamText({
    model: sent,
    messages: await convertToModelMessages(messages),
    onError: () => {},
  }).consumeStream();
  const [options] = sent.doStreamCalls;
  if (!options) throw new Error("The model was not called.");
  expect(textsOf(requestOf(messages))).toEqual(textsOf(adaptCall(options).chat));
});
