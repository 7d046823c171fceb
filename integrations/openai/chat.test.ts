import OpenAI, { APIConnectionError, APIUserAbortError, RateLimitError } from "openai";
import { describe, expect, it } from "vitest";
import { GuardBlockedError, GuardError } from "../../src/index.ts";
import { type GuardedFetchOptions, guardOpenAI } from "../../src/integrations/openai.ts";
import { exampleGuard } from "../../test/support/example-guard.ts";
import { sse, upstreamForTests } from "../../test/support/upstream.ts";

const upstream = upstreamForTests();

async function clientOf(options: GuardedFetchOptions = {}, guard = exampleGuard()): Promise<OpenAI> {
  const client = new OpenAI({ apiKey: "none", baseURL: `${upstream.url}/v1`, maxRetries: 2 });
  return guardOpenAI(client, await guard, options);
}

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const ask = (content: string) => ({ model: "gpt", messages: [{ role: "user" as const, content }] });
const choice = (content: string | null, more: object = {}, index = 0) => ({
  index,
  finish_reason: "stop",
  logprobs: null,
  message: { role: "assistant", content, refusal: null, ...more },
});
const completion = (...choices: object[]) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt",
  choices,
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
});
const chunk = (delta: object, finish_reason: string | null = null, index = 0) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt",
  choices: [{ index, delta, finish_reason }],
});
/** The chunks of an answer in the given pieces. */
const chunks = (pieces: readonly string[]) => [
  chunk({ role: "assistant", content: "" }),
  ...pieces.map((content) => chunk({ content })),
  chunk({}, "stop"),
];
async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = "";
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
  return text;
}

describe("chat completions of a guarded client", () => {
  it("are sent with placeholders and returned restored, without other changes", async () => {
    const client = await clientOf();
    upstream.answers = [{ json: completion(choice(`I wrote to ${HIDDEN}.`)) }];
    const body = {
      ...ask(`Write to ${MAIL}, please.`),
      temperature: 0.5,
      unknown_field: { deep: [1, "two"] },
      tools: [{ type: "function" as const, function: { name: "send", description: `Writes to ${MAIL}.` } }],
    };
    const answer = await client.chat.completions.create(body);
    expect(upstream.received).toHaveLength(1);
    const sent = JSON.parse(JSON.stringify(body).replaceAll(MAIL, HIDDEN));
    expect(upstream.received[0]?.json).toEqual(sent);
    expect(Object.keys(upstream.received[0]?.json)).toEqual(Object.keys(body));
    expect(answer).toEqual(completion(choice(`I wrote to ${MAIL}.`)));
  });

  it("are neither sent nor retried if the request is blocked", async () => {
    const client = await clientOf();
    const error = await client.chat.completions.create(ask("This is forbidden.")).catch((error) => error);
    expect(error).toBeInstanceOf(GuardBlockedError);
    expect(error).toMatchObject({ part: "request", report: { outcome: "blocked" } });
    expect(upstream.received).toEqual([]);
    const stream = await client.chat.completions.create({ ...ask("This is forbidden."), stream: true });
    await expect(textOf(stream)).rejects.toBeInstanceOf(GuardBlockedError);
    expect(upstream.received).toEqual([]);
  });

  it("reject if the answer is blocked, without a retry", async () => {
    const client = await clientOf();
    upstream.answers = [{ json: completion(choice("Fine."), choice("It was leaked.", {}, 1)) }];
    const error = await client.chat.completions.create({ ...ask("Hi"), n: 2 }).catch((error) => error);
    expect(error).toBeInstanceOf(GuardBlockedError);
    expect(error.part).toBe("answer");
    expect(upstream.received).toHaveLength(1);
  });

  it("restore every choice, reasoning, refusals and the arguments of tool calls", async () => {
    const client = await clientOf();
    const call = (text: string) => ({
      id: "call_1",
      type: "function",
      function: { name: "send", arguments: JSON.stringify({ to: text, n: 1 }) },
    });
    const answer = (text: string) =>
      completion(
        choice(`To ${text}.`, { reasoning_content: `Who is ${text}?` }),
        choice(null, { refusal: `Not ${text}.`, tool_calls: [call(text)] }, 1),
      );
    upstream.answers = [{ json: answer(HIDDEN) }];
    expect(await client.chat.completions.create({ ...ask(`Write to ${MAIL}`), n: 2 })).toEqual(answer(MAIL));
  });

  it("have no token probabilities if the text was changed", async () => {
    const client = await clientOf();
    const logprobs = { content: [{ token: HIDDEN, logprob: -1, bytes: null, top_logprobs: [] }] };
    upstream.answers = [{ json: completion({ ...choice(HIDDEN), logprobs }, { ...choice("Hi", {}, 1), logprobs }) }];
    const { choices } = await client.chat.completions.create({ ...ask(MAIL), logprobs: true });
    expect(choices.map(({ logprobs }) => logprobs)).toEqual([null, logprobs]);
  });

  it("return the caller's text if they are blocked", async () => {
    const client = await clientOf({ onBlocked: ({ part }) => `No ${part}.` });
    const blocked = await client.chat.completions.create(ask("forbidden"));
    expect(blocked.choices).toMatchObject([{ message: { content: "No request." }, finish_reason: "content_filter" }]);
    upstream.answers = [{ json: completion(choice("leaked")) }];
    const answer = await client.chat.completions.create(ask("Hi"));
    expect(answer).toMatchObject({ id: "chatcmpl-1", choices: [{ message: { content: "No answer." } }] });
    const stream = await client.chat.completions.create({ ...ask("forbidden"), stream: true });
    expect(await textOf(stream)).toBe("No request.");
    expect(upstream.received).toHaveLength(1);
  });

  it("return an error of OpenAI's form on request", async () => {
    const client = await clientOf({ onBlocked: "respond" });
    const error = await client.chat.completions.create(ask("forbidden")).catch((error) => error);
    expect(error).toMatchObject({ status: 400, code: "content_policy_violation", type: "invalid_request_error" });
    expect(error.message).toContain("The request was blocked by guard: BanSubstrings");
    expect(upstream.received).toEqual([]);
    upstream.answers = [{ pieces: sse(chunks(["It was ", "leaked."])) }];
    const stream = await client.chat.completions.create({ ...ask("Hi"), stream: true });
    await expect(textOf(stream)).rejects.toMatchObject({ code: "content_policy_violation" });
  });

  it("fail if guard cannot check, and are not sent", async () => {
    const guard = await exampleGuard({ maxScans: 0 });
    const client = await clientOf({}, Promise.resolve(guard));
    const error = await client.chat.completions.create(ask("Hi")).catch((error) => error);
    expect(error).toBeInstanceOf(GuardError);
    expect(error.code).toBe("GUARD_OVERLOADED");
    const responding = (await clientOf({ onBlocked: "respond" }, Promise.resolve(guard))).withOptions({
      maxRetries: 0,
    });
    await expect(responding.chat.completions.create(ask("Hi"))).rejects.toMatchObject({ status: 503 });
    expect(upstream.received).toEqual([]);
  });

  it("fail for unreadable answers", async () => {
    const client = await clientOf();
    upstream.answers = [{ json: { id: "1", text: "leaked" } }];
    await expect(client.chat.completions.create(ask("Hi"))).rejects.toMatchObject({ code: "GUARD_UPSTREAM" });
    upstream.answers = [{ pieces: ["data: leaked\n\n"] }];
    const stream = await client.chat.completions.create({ ...ask("Hi"), stream: true });
    await expect(textOf(stream)).rejects.toMatchObject({ code: "GUARD_UPSTREAM" });
  });

  it("pass the errors of the provider on", async () => {
    const client = (await clientOf()).withOptions({ maxRetries: 0 });
    upstream.answers = [{ status: 429, json: { error: { message: "slow down" } }, headers: { "x-test": "1" } }];
    const error = await client.chat.completions.create(ask("Hi")).catch((error) => error);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.headers.get("x-test")).toBe("1");
    const nowhere = client.withOptions({ baseURL: "http://127.0.0.1:9/v1" });
    await expect(nowhere.chat.completions.create(ask("Hi"))).rejects.toBeInstanceOf(APIConnectionError);
  });

  it("can be aborted", async () => {
    const client = await clientOf();
    const stop = new AbortController();
    const pieces = async function* () {
      yield* sse([chunk({ role: "assistant", content: "Hi" })], "");
      stop.abort();
      for (let sent = 0; sent < 10_000 && upstream.gone === 0; sent++) {
        yield* sse([chunk({ content: "word ".repeat(1000) })], "");
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    upstream.answers = [{ pieces: pieces() }];
    const options = { signal: stop.signal };
    await expect(client.chat.completions.create(ask("Hi"), options)).rejects.toBeInstanceOf(Error);
    await expect.poll(() => upstream.gone).toBe(1);
    await expect(client.chat.completions.create(ask("Hi"), options)).rejects.toBeInstanceOf(APIUserAbortError);
  });
});

describe("streamed chat completions", () => {
  it("are restored, also across chunks", async () => {
    const client = await clientOf();
    const text = `To ${HIDDEN}. Bye.`;
    for (let cut = 0; cut <= text.length; cut++) {
      upstream.answers = [{ pieces: sse(chunks([text.slice(0, cut), text.slice(cut)])) }];
      const stream = await client.chat.completions.create({ ...ask(`Write to ${MAIL}`), stream: true });
      expect(await textOf(stream)).toBe(`To ${MAIL}. Bye.`);
    }
    expect(upstream.received[0]?.json.messages[0].content).toBe(`Write to ${HIDDEN}`);
  });

  it("are equal to the unstreamed answer", async () => {
    const client = await clientOf();
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const tool = (index: number, fn: object, more: object = {}) =>
      chunk({ tool_calls: [{ index, ...more, function: fn }] }, null, 1);
    const events = [
      chunk({ role: "assistant", content: "" }),
      chunk({ role: "assistant", content: null }, null, 1),
      chunk({ content: "To [REDACTED_EMAIL" }),
      tool(0, { name: "send", arguments: "" }, { id: "call_1", type: "function" }),
      tool(0, { arguments: '{"to":"[REDACTED_EM' }),
      chunk({ content: "_ADDRESS_1]." }),
      tool(0, { arguments: 'AIL_ADDRESS_1]"}' }),
      tool(1, { name: "look", arguments: "{}" }, { id: "call_2", type: "function" }),
      chunk({}, "stop"),
      chunk({}, "tool_calls", 1),
      { ...chunk({}), choices: [], usage },
    ];
    upstream.answers = [{ pieces: sse(events) }];
    const stream = client.chat.completions.stream({
      ...ask(`Write to ${MAIL}`),
      n: 2,
      stream_options: { include_usage: true },
    });
    const result = await stream.finalChatCompletion();
    expect(result.usage).toEqual(usage);
    expect(result.choices).toMatchObject([
      { index: 0, finish_reason: "stop", message: { role: "assistant", content: `To ${MAIL}.` } },
      {
        index: 1,
        finish_reason: "tool_calls",
        message: {
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "send", arguments: `{"to":"${MAIL}"}` } },
            { id: "call_2", function: { name: "look", arguments: "{}" } },
          ],
        },
      },
    ]);
  });

  it("throw in the middle if a check fails", async () => {
    const client = await clientOf();
    upstream.answers = [{ pieces: sse(chunks(["It was ", "leaked. ", "More."])) }];
    const stream = await client.chat.completions.create({ ...ask("Hi"), stream: true });
    const shown: string[] = [];
    const reading = (async () => {
      for await (const { choices } of stream) shown.push(choices[0]?.delta.content ?? "");
    })();
    await expect(reading).rejects.toBeInstanceOf(GuardBlockedError);
    expect(shown.join("")).not.toContain("leaked");
    expect(upstream.received).toHaveLength(1);
    const helper = client.chat.completions.stream(ask("Hi"));
    await expect(helper.finalChatCompletion()).rejects.toMatchObject({ cause: expect.any(GuardBlockedError) });
  });

  it("end with the caller's text if a check fails", async () => {
    const client = await clientOf({ onBlocked: () => "Sorry." });
    upstream.answers = [{ pieces: sse(chunks(["It was ", "leaked. ", "More."])) }];
    const result = await client.chat.completions.stream(ask("Hi")).finalChatCompletion();
    expect(result.choices[0]?.message.content).toMatch(/^(?:It was )?Sorry\.$/);
    expect(result.choices[0]?.finish_reason).toBe("content_filter");
  });
});
