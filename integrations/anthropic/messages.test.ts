import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { GuardBlockedError } from "../../src/index.ts";
import { type GuardedFetchOptions, guardAnthropic } from "../../src/integrations/anthropic.ts";
import { exampleGuard } from "../../test/support/example-guard.ts";
import { sse, upstreamForTests } from "../../test/support/upstream.ts";

const upstream = upstreamForTests();

async function clientOf(options: GuardedFetchOptions = {}): Promise<Anthropic> {
  const client = new Anthropic({ apiKey: "none", baseURL: upstream.url, maxRetries: 2 });
  return guardAnthropic(client, await exampleGuard(), options);
}

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const ask = (content: string) => ({ model: "claude", max_tokens: 100, messages: [{ role: "user" as const, content }] });
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
const start = { type: "message_start", message: { ...message(), stop_reason: null } };
const stop = [
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];
/** The events of a content block that arrives in pieces. */
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const text = (...pieces: string[]) =>
  block(0, { type: "text", text: "" }, ...pieces.map((text) => ({ type: "text_delta", text })));
const events = (...blocks: object[][]) => sse([start, { type: "ping" }, ...blocks.flat(), ...stop], "");

describe("messages of a guarded client", () => {
  it("are sent with placeholders, and returned restored", async () => {
    const client = await clientOf();
    const answer = (mail: string) =>
      message(
        { type: "thinking", thinking: `Who is ${mail}?`, signature: "c2lnbmVk" },
        { type: "text", text: `I wrote to ${mail}, `, citations: null },
        { type: "text", text: `and not to ${mail}.`, citations: null },
        { type: "tool_use", id: "toolu_1", name: "send", input: { to: mail, n: 1.5, list: [mail] } },
      );
    upstream.answers = [{ json: answer(HIDDEN) }];
    const body = {
      ...ask(`Write to ${MAIL}.`),
      system: [{ type: "text" as const, text: `The user is ${MAIL}.`, cache_control: { type: "ephemeral" as const } }],
      tools: [{ name: "send", description: `As ${MAIL}`, input_schema: { type: "object" as const, properties: {} } }],
    };
    expect(await client.messages.create(body)).toEqual(answer(MAIL));
    expect(upstream.received[0]?.json).toEqual(JSON.parse(JSON.stringify(body).replaceAll(MAIL, HIDDEN)));
  });

  it("are neither sent nor retried if the request is blocked", async () => {
    const client = await clientOf();
    await expect(client.messages.create(ask("forbidden"))).rejects.toBeInstanceOf(GuardBlockedError);
    const stream = await client.messages.create({ ...ask("forbidden"), stream: true });
    const reading = (async () => {
      for await (const _ of stream);
    })();
    await expect(reading).rejects.toBeInstanceOf(GuardBlockedError);
    await expect(client.messages.countTokens(ask("forbidden"))).rejects.toBeInstanceOf(GuardBlockedError);
    expect(upstream.received).toEqual([]);
  });

  it("reject if the answer is blocked", async () => {
    const client = await clientOf();
    upstream.answers = [{ json: message({ type: "text", text: "It was leaked." }) }];
    await expect(client.messages.create(ask("Hi"))).rejects.toMatchObject({ code: "GUARD_BLOCKED", part: "answer" });
    expect(upstream.received).toHaveLength(1);
  });

  it("count the tokens of the sanitized request", async () => {
    const client = await clientOf();
    upstream.answers = [{ json: { input_tokens: 7 } }];
    expect(await client.messages.countTokens(ask(MAIL))).toEqual({ input_tokens: 7 });
    expect(upstream.received[0]?.json.messages[0].content).toBe(HIDDEN);
  });

  it("return the caller's text if they are blocked", async () => {
    const client = await clientOf({ onBlocked: ({ part }) => `No ${part}.` });
    const blocked = await client.messages.create(ask("forbidden"));
    expect(blocked).toMatchObject({ content: [{ type: "text", text: "No request." }], stop_reason: "refusal" });
    expect(await client.messages.stream(ask("forbidden")).finalText()).toBe("No request.");
    upstream.answers = [{ json: message({ type: "text", text: "leaked" }) }];
    const answer = await client.messages.create(ask("Hi"));
    expect(answer).toMatchObject({ id: "msg_1", content: [{ text: "No answer." }], usage: { input_tokens: 1 } });
  });

  it("return an error of Anthropic's form on request", async () => {
    const client = await clientOf({ onBlocked: "respond" });
    const error = await client.messages.create(ask("forbidden")).catch((error) => error);
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(error.error.error.message).toContain("The request was blocked by guard");
    upstream.answers = [{ pieces: events(text("It was ", "leaked.")) }];
    await expect(client.messages.stream(ask("Hi")).finalText()).rejects.toThrow("The answer was blocked by guard");
  });
});

describe("streamed messages", () => {
  it("are restored, also across chunks", async () => {
    const client = await clientOf();
    const said = `To ${HIDDEN}. Bye.`;
    for (let cut = 0; cut <= said.length; cut++) {
      upstream.answers = [{ pieces: events(text(said.slice(0, cut), said.slice(cut))) }];
      expect(await client.messages.stream(ask(MAIL)).finalText()).toBe(`To ${MAIL}. Bye.`);
    }
  });

  it("are equal to the unstreamed answer", async () => {
    const client = await clientOf();
    const blocks = [
      block(
        0,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: "Who is [REDACTED_EM" },
        { type: "thinking_delta", thinking: "AIL_ADDRESS_1]?" },
        { type: "signature_delta", signature: "c2lnbmVk" },
      ),
      block(1, { type: "text", text: "" }, { type: "text_delta", text: `To ${HIDDEN}` }),
      block(
        2,
        { type: "tool_use", id: "toolu_1", name: "send", input: {} },
        { type: "input_json_delta", partial_json: "" },
        { type: "input_json_delta", partial_json: '{"to": "[REDACTED_EM' },
        { type: "input_json_delta", partial_json: 'AIL_ADDRESS_1]"}' },
      ),
      block(3, { type: "tool_use", id: "toolu_2", name: "look", input: {} }),
    ];
    upstream.answers = [{ pieces: events(...blocks) }];
    const result = await client.messages.stream(ask(MAIL)).finalMessage();
    expect(result).toMatchObject({ id: "msg_1", stop_reason: "end_turn", usage: { output_tokens: 2 } });
    expect(result.content).toEqual([
      { type: "thinking", thinking: `Who is ${MAIL}?`, signature: "c2lnbmVk" },
      { type: "text", text: `To ${MAIL}` },
      { type: "tool_use", id: "toolu_1", name: "send", input: { to: MAIL } },
      { type: "tool_use", id: "toolu_2", name: "look", input: {} },
    ]);
  });

  it("throw in the middle if a check fails", async () => {
    const client = await clientOf();
    upstream.answers = [{ pieces: events(text("It was ", "leaked. ", "More.")) }];
    const stream = await client.messages.create({ ...ask("Hi"), stream: true });
    let shown = "";
    const reading = (async () => {
      for await (const event of stream) shown += JSON.stringify(event);
    })();
    await expect(reading).rejects.toBeInstanceOf(GuardBlockedError);
    expect(shown).not.toContain("leaked");
    const helper = client.messages.stream(ask("Hi"));
    await expect(helper.finalText()).rejects.toMatchObject({ cause: expect.any(GuardBlockedError) });
    expect(upstream.received).toHaveLength(2);
  });

  it("end with the caller's text if a check fails", async () => {
    const client = await clientOf({ onBlocked: () => "Sorry." });
    const call = block(
      1,
      { type: "tool_use", id: "toolu_1", name: "send", input: {} },
      { type: "input_json_delta", partial_json: '{"to": "forbidden' },
    );
    for (const blocks of [[text("It was ", "leaked.")], [text("Fine."), call]]) {
      upstream.answers = [{ pieces: events(...blocks) }];
      const result = await client.messages.stream(ask("Hi")).finalMessage();
      expect(result.stop_reason).toBe("refusal");
      expect(result.content.at(-1)).toEqual({ type: "text", text: "Sorry." });
    }
  });

  it("pass the errors of the provider on", async () => {
    const client = (await clientOf()).withOptions({ maxRetries: 0 });
    upstream.answers = [{ status: 529, json: { type: "error", error: { type: "overloaded_error", message: "busy" } } }];
    await expect(client.messages.create(ask("Hi"))).rejects.toMatchObject({ status: 529 });
    const failure = { type: "error", error: { type: "overloaded_error", message: "busy" } };
    upstream.answers = [{ pieces: sse([start, failure], "") }];
    await expect(client.messages.stream(ask("Hi")).finalText()).rejects.toThrow("busy");
  });
});
