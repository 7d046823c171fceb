import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { describe, expect, it } from "vitest";
import { sse, upstreamForTests } from "../../test/support/upstream.ts";
import { startedProxy } from "./started.ts";

const upstream = upstreamForTests();

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const ask = (content: string) => ({ model: "gpt", messages: [{ role: "user" as const, content }] });
const completion = (content: string | null, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt",
  choices: [
    {
      index: 0,
      finish_reason: "stop",
      logprobs: null,
      message: { role: "assistant", content, refusal: null, ...more },
    },
  ],
});
const chunks = (...pieces: string[]) =>
  sse(
    [...pieces.map((content) => ({ content })), {}].map((delta, index) => ({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "gpt",
      choices: [{ index: 0, delta, finish_reason: index === pieces.length ? "stop" : null }],
    })),
  );

async function openai(): Promise<{ client: OpenAI; calls(): Record<string, unknown>[]; log: string[] }> {
  const { url, calls, log } = await startedProxy(upstream.url);
  const client = new OpenAI({ apiKey: "sk-of-ann", organization: "org-1", baseURL: `${url}/v1`, maxRetries: 0 });
  return { client, calls, log };
}

describe("the OpenAI client behind guard proxy", () => {
  it("sends placeholders and its credential, and receives the restored answer", async () => {
    const { client, calls, log } = await openai();
    const headers = { "x-request-id": "req_of_upstream", "openai-processing-ms": "5" };
    upstream.answers = [{ json: completion(`I wrote to ${HIDDEN}.`), headers }];
    const { data, response } = await client.chat.completions.create(ask(`Write to ${MAIL}.`)).withResponse();
    expect(data).toEqual(completion(`I wrote to ${MAIL}.`));
    expect(response.headers.get("openai-processing-ms")).toBe("5");
    expect(response.headers.get("x-request-id")).toBe("req_of_upstream");
    expect(upstream.received).toMatchObject([
      {
        method: "POST",
        url: "/v1/chat/completions",
        json: ask(`Write to ${HIDDEN}.`),
        headers: { authorization: "Bearer sk-of-ann", "openai-organization": "org-1", via: "1.1 guard" },
      },
    ]);
    await expect
      .poll(calls)
      .toMatchObject([
        { level: 30, method: "POST", call: expect.stringMatching(/OpenAI/), status: 200, outcome: "masked" },
      ]);
    expect(calls()[0]?.flagged).toContain("Anonymize");
    for (const secret of [MAIL, "sk-of-ann", "Write to"]) expect(log.join("")).not.toContain(secret);
  });

  it("reads a stream that is restored across chunks", async () => {
    const { client } = await openai();
    upstream.answers = [{ pieces: chunks("I wrote to [REDAC", "TED_EMAIL_ADDR", "ESS_1]", ", and to nobody else.") }];
    const stream = await client.chat.completions.create({ ...ask(`Write to ${MAIL}.`), stream: true });
    let text = "";
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    expect(text).toBe(`I wrote to ${MAIL}, and to nobody else.`);
  });

  it("receives tool calls with restored arguments", async () => {
    const { client } = await openai();
    const tool_calls = (mail: string) => [
      { id: "call_1", type: "function", function: { name: "send", arguments: JSON.stringify({ to: mail }) } },
    ];
    upstream.answers = [{ json: completion(null, { tool_calls: tool_calls(HIDDEN) }) }];
    const answer = await client.chat.completions.create({
      ...ask(`Write to ${MAIL}.`),
      tools: [{ type: "function", function: { name: "send", parameters: { type: "object" } } }],
    });
    expect(answer.choices[0]?.message.tool_calls).toEqual(tool_calls(MAIL));
  });

  it("receives 400 for a blocked request, which is not forwarded", async () => {
    const { client, calls, log } = await openai();
    const error = await client.chat.completions.create(ask("This is forbidden.")).catch((error) => error);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error", code: "content_policy_violation" });
    expect(error.message).toContain("The request was blocked by guard: BanSubstrings");
    expect(upstream.received).toEqual([]);
    await expect.poll(calls).toMatchObject([{ status: 400, outcome: "blocked" }]);
    expect(log.join("")).not.toContain("forbidden");
  });

  it("receives 400 for a blocked answer, and an error in a stream", async () => {
    const { client, calls } = await openai();
    upstream.answers = [{ json: completion("It was leaked.") }, { pieces: chunks("It was ", "leaked", ". More.") }];
    await expect(client.chat.completions.create(ask("Hi"))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("The answer was blocked by guard"),
    });
    const stream = await client.chat.completions.create({ ...ask("Hi"), stream: true });
    let text = "";
    const read = async () => {
      for await (const { choices } of stream) text += choices[0]?.delta?.content ?? "";
    };
    await expect(read()).rejects.toThrow("The answer was blocked by guard");
    expect(text).not.toContain("leaked");
    await expect.poll(calls).toMatchObject([
      { status: 400, outcome: "blocked" },
      { status: 200, outcome: "blocked" },
    ]);
  });

  it("receives upstream errors unchanged", async () => {
    const { client } = await openai();
    const error = { message: "Slow down.", type: "requests", param: null, code: "rate_limit_exceeded" };
    upstream.answers = [{ status: 429, json: { error }, headers: { "retry-after": "7" } }];
    const caught = await client.chat.completions.create(ask("Hi")).catch((error) => error);
    expect(caught).toBeInstanceOf(OpenAI.RateLimitError);
    expect([caught.code, caught.headers.get("retry-after")]).toEqual(["rate_limit_exceeded", "7"]);
  });

  it("uses completions, embeddings, responses and models", async () => {
    const { client } = await openai();
    upstream.answers = [{ json: { object: "list", model: "e", data: [], usage: {} } }];
    await client.embeddings.create({ model: "e", input: [`Ann is ${MAIL}`, "Nobody"], encoding_format: "float" });
    expect(upstream.received[0]?.json.input).toEqual([`Ann is ${HIDDEN}`, "Nobody"]);

    const output = (text: string) => [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ];
    upstream.answers = [{ json: { id: "resp_1", object: "response", status: "completed", output: output(HIDDEN) } }];
    const response = await client.responses.create({ model: "gpt", input: MAIL, instructions: "Be brief." });
    expect([upstream.received[1]?.json.input, response.output_text]).toEqual([HIDDEN, MAIL]);

    upstream.answers = [
      {
        json: {
          id: "c",
          object: "text_completion",
          model: "t",
          choices: [{ index: 0, text: HIDDEN, finish_reason: "stop" }],
        },
      },
    ];
    const { choices } = await client.completions.create({ model: "t", prompt: MAIL });
    expect([upstream.received[2]?.json.prompt, choices[0]?.text]).toEqual([HIDDEN, MAIL]);

    upstream.answers = [
      { json: { object: "list", data: [{ id: "gpt", object: "model", created: 1, owned_by: "o" }] } },
    ];
    const models = await client.models.list({ query: { limit: "1" } });
    expect(models.data).toHaveLength(1);
    expect(upstream.received[3]).toMatchObject({ method: "GET", url: "/v1/models?limit=1" });
  });

  it("sends audio with a guarded prompt, and receives the restored transcript", async () => {
    const { client } = await openai();
    upstream.answers = [{ json: { text: `Please write to ${HIDDEN}.` } }];
    const sound = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 256));
    const { text } = await client.audio.transcriptions.create({
      model: "whisper-1",
      prompt: `It names ${MAIL}.`,
      file: await toFile(sound, "a.wav", { type: "audio/wav" }),
    });
    expect(text).toBe(`Please write to ${MAIL}.`);
    const [sent] = upstream.received;
    expect(sent?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(sent?.text).toContain(`It names ${HIDDEN}.`);
    expect(sent?.text).not.toContain(MAIL);
    expect(Number(sent?.headers["content-length"])).toBeGreaterThan(sound.length);
  });
});

describe("the Anthropic client behind guard proxy", () => {
  const message = (...content: object[]) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content,
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 2 },
  });
  const request = (content: string) => ({
    model: "claude",
    max_tokens: 10,
    messages: [{ role: "user" as const, content }],
  });
  const anthropic = async () => {
    const { url, calls } = await startedProxy([`/anthropic=${upstream.url}/base/`, "http://127.0.0.1:9"]);
    const client = new Anthropic({ apiKey: "sk-ant-ann", authToken: null, baseURL: `${url}/anthropic`, maxRetries: 0 });
    return { client, calls };
  };

  it("sends placeholders and its credential below a prefix, and receives the restored answer", async () => {
    const { client, calls } = await anthropic();
    upstream.answers = [{ json: message({ type: "text", text: `To ${HIDDEN}.`, citations: null }) }];
    const answer = await client.messages.create({ ...request(`Write to ${MAIL}.`), system: `I am ${MAIL}.` });
    expect(answer.content).toMatchObject([{ text: `To ${MAIL}.` }]);
    const [sent] = upstream.received;
    expect(sent).toMatchObject({ url: "/base/v1/messages", headers: { authorization: "Bearer sk-ant-ann" } });
    expect(sent?.headers["anthropic-version"]).toMatch(/^\d{4}-/);
    expect(sent?.text).not.toContain(MAIL);
    await expect.poll(calls).toMatchObject([{ upstream: "/anthropic", outcome: "masked" }]);
  });

  it("reads a stream", async () => {
    const { client } = await anthropic();
    const pieces = ["To [REDACTED_EMAIL", "_ADDRESS_1]."].map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    }));
    upstream.answers = [
      {
        pieces: sse(
          [
            { type: "message_start", message: { ...message(), stop_reason: null } },
            { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
            ...pieces,
            { type: "content_block_stop", index: 0 },
            {
              type: "message_delta",
              delta: { stop_reason: "end_turn", stop_sequence: null },
              usage: { output_tokens: 2 },
            },
            { type: "message_stop" },
          ],
          "",
        ),
      },
    ];
    expect(await client.messages.stream(request(`Write to ${MAIL}.`)).finalText()).toBe(`To ${MAIL}.`);
  });

  it("receives errors that it can parse", async () => {
    const { client } = await anthropic();
    const blocked = await client.messages.create(request("forbidden")).catch((error) => error);
    expect(blocked).toBeInstanceOf(Anthropic.BadRequestError);
    expect(blocked.error).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    const refused = (await client.post("/v1/files", { body: {} }).catch((error) => error)) as InstanceType<
      typeof Anthropic.APIError
    >;
    expect(refused).toBeInstanceOf(Anthropic.NotFoundError);
    expect(refused.error).toMatchObject({
      type: "error",
      error: { message: expect.stringContaining("guard cannot check calls to this path") },
    });
    expect(upstream.received).toEqual([]);
  });
});
