import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  embed,
  embedMany,
  generateObject,
  generateText,
  Output,
  stepCountIs,
  streamObject,
  streamText,
  tool,
  wrapEmbeddingModel,
  wrapLanguageModel,
} from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import type { Guard, GuardReport } from "../../src/guard/guard.ts";
import {
  GuardBlockedError,
  type GuardedModelOptions,
  guardEmbeddingMiddleware,
  guardMiddleware,
} from "../../src/integrations/ai-sdk.ts";
import { collect, FORBIDDEN, remoteTestGuard, TOKEN, TOKEN_REPLACEMENT, testGuard } from "../../test/support/guards.ts";
import { completion, type Reply, streamed, type Upstream, upstream } from "./upstream.ts";

const MAIL = "ann@example.com";
const PLACEHOLDER = "[REDACTED_EMAIL_ADDRESS_1]";

/** A provider of a real package with a guarded model and a scripted upstream. */
async function guarded(
  reply: (body: Record<string, unknown>, count: number) => Reply,
  guard?: Guard,
  options?: GuardedModelOptions,
) {
  const server = await upstream(reply);
  const provider = createOpenAICompatible({
    name: "fake",
    baseURL: server.baseURL,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const middleware = guardMiddleware(guard ?? (await testGuard()), options);
  const model = wrapLanguageModel({ model: provider("fake"), middleware });
  return { server, provider, model };
}

const messagesOf = ({ bodies }: Upstream, index = 0) => bodies[index]?.messages as Record<string, unknown>[];

it("sends placeholders and restores them in the answer", async () => {
  const { server, model } = await guarded(() => completion(`I will write to ${PLACEHOLDER}.`));
  const { text, usage, response } = await generateText({ model, system: "Be kind.", prompt: `Write to ${MAIL}.` });
  expect(messagesOf(server)).toEqual([
    { role: "system", content: "Be kind." },
    { role: "user", content: `Write to ${PLACEHOLDER}.` },
  ]);
  expect(text).toBe(`I will write to ${MAIL}.`);
  expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 5 });
  // The provider's response contains the original answer, so it is removed.
  expect(response.body).toBeUndefined();
});

it("restores placeholders that are split between chunks, at every position", async () => {
  const answer = `To ${PLACEHOLDER}!`;
  let cut = 0;
  const { model } = await guarded(() => streamed([answer.slice(0, cut), answer.slice(cut)]));
  for (; cut <= answer.length; cut++) {
    const result = streamText({ model, prompt: `Write to ${MAIL}.` });
    const types: string[] = [];
    for await (const { type } of result.fullStream) types.push(type);
    expect(await result.text).toBe(`To ${MAIL}!`);
    expect(types.filter((type) => type !== "text-delta")).toEqual([
      "start",
      "start-step",
      "text-start",
      "text-end",
      "finish-step",
      "finish",
    ]);
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 5 });
  }
});

it("removes findings from an answer", async () => {
  const { model } = await guarded(({ stream }) => {
    return stream ? streamed(["a sk-", "token b"]) : completion(`a ${TOKEN} b`);
  });
  expect((await generateText({ model, prompt: "Hi" })).text).toBe(`a ${TOKEN_REPLACEMENT} b`);
  expect(await streamText({ model, prompt: "Hi" }).text).toBe(`a ${TOKEN_REPLACEMENT} b`);
});

it("never sends a blocked request", async () => {
  const reports: [string, GuardReport][] = [];
  const { server, model } = await guarded(() => completion("never"), undefined, {
    onReport: (what, report) => void reports.push([what, report]),
  });
  const call = generateText({ model, prompt: `This is ${FORBIDDEN}.` });
  await expect(call).rejects.toThrow(GuardBlockedError);
  await expect(call).rejects.toMatchObject({ part: "request", report: { resultsScore: { Forbidden: 1 } } });

  const errors: unknown[] = [];
  const result = streamText({
    model,
    prompt: `This is ${FORBIDDEN}.`,
    onError: ({ error }) => void errors.push(error),
  });
  const parts = await collect(result.fullStream);
  expect(parts).toMatchObject([{ type: "start" }, { type: "error", error: { code: "GUARD_BLOCKED" } }]);
  expect(errors).toEqual([expect.any(GuardBlockedError)]);
  expect(server.bodies).toEqual([]);
  expect(reports).toMatchObject([
    ["request", { outcome: "blocked" }],
    ["request", { outcome: "blocked" }],
  ]);
});

it("stops the stream of a blocked answer", async () => {
  const { model } = await guarded(({ stream }) => {
    return stream ? streamed(["Well, ", "FORBID", "DEN", " it is"]) : completion(`Well, ${FORBIDDEN} it is`);
  });
  await expect(generateText({ model, prompt: "Hi" })).rejects.toMatchObject({ part: "answer" });

  const errors: unknown[] = [];
  const result = streamText({ model, prompt: "Hi", onError: ({ error }) => void errors.push(error) });
  const parts = await collect(result.fullStream);
  expect(parts.map(({ type }) => type)).toEqual([
    "start",
    "start-step",
    "text-start",
    "text-end",
    "error",
    "finish-step",
    "finish",
  ]);
  expect(errors).toEqual([expect.any(GuardBlockedError)]);
  expect(await result.text).toBe("");
  expect(await result.finishReason).toBe("error");
});

it("answers blocked calls with the caller's text", async () => {
  const onBlocked = ({ part }: GuardBlockedError) => `Sorry, this ${part} cannot be shown.`;
  const { model } = await guarded(
    ({ stream }) => (stream ? streamed([FORBIDDEN, "!"]) : completion(FORBIDDEN)),
    undefined,
    {
      onBlocked,
    },
  );
  for (const [prompt, what] of [
    [FORBIDDEN, "request"],
    ["Hi", "answer"],
  ] as const) {
    const generated = await generateText({ model, prompt });
    const streaming = streamText({ model, prompt });
    for (const result of [generated, { text: await streaming.text, finishReason: await streaming.finishReason }]) {
      expect(result).toMatchObject({ text: `Sorry, this ${what} cannot be shown.`, finishReason: "content-filter" });
    }
  }
});

const mailTool = (seen: unknown[]) =>
  tool({
    description: "Looks up a person.",
    inputSchema: z.object({ mail: z.string() }),
    execute: async (input) => {
      seen.push(input);
      return { name: "Ann", other: "bob@example.com", again: input.mail };
    },
  });

it.each([
  ["generate", "in the process", testGuard],
  ["stream", "in the process", testGuard],
  ["generate", "on a server", remoteTestGuard],
  ["stream", "on a server", remoteTestGuard],
])("runs a tool loop of several steps: %s, with guard %s", async (how, _, guardOf) => {
  const seen: unknown[] = [];
  const call = { id: "call_1", name: "lookup", arguments: JSON.stringify({ mail: PLACEHOLDER }) };
  const last = `[REDACTED_EMAIL_ADDRESS_2] knows ${PLACEHOLDER}.`;
  const { server, model } = await guarded(
    ({ stream }, count) => {
      if (stream) return count === 1 ? streamed(["Looking."], [call]) : streamed([last.slice(0, 9), last.slice(9)]);
      return count === 1 ? completion("Looking.", [call]) : completion(last);
    },
    await guardOf(),
  );
  const options = {
    model,
    tools: { lookup: mailTool(seen) },
    stopWhen: stepCountIs(3),
    prompt: `Who is ${MAIL}?`,
  };
  const result = how === "generate" ? await generateText(options) : streamText(options);
  expect(await result.text).toBe(`bob@example.com knows ${MAIL}.`);
  // The tool receives the real address, and the model reads the same placeholder for it in the next step.
  expect(seen).toEqual([{ mail: MAIL }]);
  expect(JSON.stringify(server.bodies)).not.toContain("@example.com");
  const [user, assistant, results] = messagesOf(server, 1);
  expect(user?.content).toBe(`Who is ${PLACEHOLDER}?`);
  expect(assistant).toMatchObject({
    content: "Looking.",
    tool_calls: [{ function: { name: "lookup", arguments: JSON.stringify({ mail: PLACEHOLDER }) } }],
  });
  expect(JSON.parse(results?.content as string)).toEqual({
    name: "Ann",
    other: "[REDACTED_EMAIL_ADDRESS_2]",
    again: PLACEHOLDER,
  });
});

it.each(["generate", "stream"])("runs no tool of a blocked answer: %s", async (how) => {
  const seen: unknown[] = [];
  const fine = { id: "call_1", name: "lookup", arguments: '{"mail":"a"}' };
  const bad = { id: "call_2", name: "lookup", arguments: JSON.stringify({ mail: FORBIDDEN }) };
  const { model, server } = await guarded(({ stream }) => {
    return stream ? streamed(["Hm."], [fine, bad]) : completion("Hm.", [fine, bad]);
  });
  const options = { model, tools: { lookup: mailTool(seen) }, stopWhen: stepCountIs(3), prompt: "Go" };
  if (how === "generate") {
    await expect(generateText(options)).rejects.toThrow(GuardBlockedError);
  } else {
    const parts = await collect(streamText({ ...options, onError: () => {} }).fullStream);
    expect(parts.filter(({ type }) => type.startsWith("tool"))).toEqual([]);
    expect(parts).toContainEqual({ type: "error", error: expect.any(GuardBlockedError) });
  }
  expect(seen).toEqual([]);
  expect(server.bodies).toHaveLength(1);
});

it("blocks a tool result before the model reads it", async () => {
  const call = { id: "call_1", name: "read", arguments: "{}" };
  const { model, server } = await guarded((_, count) => (count === 1 ? completion(null, [call]) : completion("never")));
  const read = tool({ inputSchema: z.object({}), execute: async () => ({ page: [`It says ${FORBIDDEN}`] }) });
  const calling = generateText({ model, tools: { read }, stopWhen: stepCountIs(3), prompt: "Read it" });
  await expect(calling).rejects.toMatchObject({ report: { resultsScore: { "Forbidden[tool]": 1 } } });
  expect(server.bodies).toHaveLength(1);
});

it("guards structured answers and their schemas", async () => {
  const { model, server } = await guarded(() => completion(JSON.stringify({ mail: PLACEHOLDER })));
  const schema = z.object({ mail: z.string().describe(`Such as ${MAIL}`) });
  const { object } = await generateObject({ model, schema, prompt: `My mail is ${MAIL}` });
  expect(object).toEqual({ mail: MAIL });
  const { output } = await generateText({ model, output: Output.object({ schema }), prompt: `My mail is ${MAIL}` });
  expect(output).toEqual({ mail: MAIL });
  expect(JSON.stringify(server.bodies)).not.toContain(MAIL);

  const bad = z.object({ mail: z.string().describe(FORBIDDEN) });
  await expect(generateObject({ model, schema: bad, prompt: "Hi" })).rejects.toThrow(GuardBlockedError);
  expect(server.bodies).toHaveLength(2);
});

it("streams structured answers", async () => {
  const json = JSON.stringify({ mail: PLACEHOLDER, note: "Hi" });
  const { model } = await guarded(({ messages }) => {
    const isBad = JSON.stringify(messages).includes("Be bad");
    return streamed(isBad ? ['{"note":"', FORBIDDEN, '"}'] : [json.slice(0, 15), json.slice(15)]);
  });
  const schema = z.object({ mail: z.string(), note: z.string() });
  const prompt = `My mail is ${MAIL}`;
  const objects = streamObject({ model, schema, prompt });
  expect((await collect(objects.partialObjectStream)).at(-1)).toEqual({ mail: MAIL, note: "Hi" });
  expect(await objects.object).toEqual({ mail: MAIL, note: "Hi" });
  const { partialOutputStream, output } = streamText({ model, output: Output.object({ schema }), prompt });
  expect((await collect(partialOutputStream)).at(-1)).toEqual({ mail: MAIL, note: "Hi" });
  expect(await output).toEqual({ mail: MAIL, note: "Hi" });

  const errors: unknown[] = [];
  const bad = streamObject({ model, schema, prompt: "Be bad", onError: ({ error }) => void errors.push(error) });
  const shown = await collect(bad.partialObjectStream).catch((error) => error);
  expect(JSON.stringify(shown)).not.toContain(FORBIDDEN);
  expect(errors).toContainEqual(expect.any(GuardBlockedError));
});

it("guards embeddings", async () => {
  const { server, provider } = await guarded(({ input }) => ({
    data: (input as string[]).map((_, index) => ({ embedding: [index] })),
    usage: { prompt_tokens: 1 },
  }));
  const model = wrapEmbeddingModel({
    model: provider.embeddingModel("fake"),
    middleware: guardEmbeddingMiddleware(await testGuard()),
  });
  const { embeddings } = await embedMany({ model, values: ["Hello", `From ${MAIL}`] });
  expect(embeddings).toEqual([[0], [1]]);
  expect(server.bodies).toMatchObject([{ input: ["Hello", `From ${PLACEHOLDER}`] }]);
  await expect(embed({ model, value: FORBIDDEN })).rejects.toThrow(GuardBlockedError);
  expect(server.bodies).toHaveLength(1);
});
