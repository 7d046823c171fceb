import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { GuardBlockedError } from "../../src/index.ts";
import { type GuardedFetchOptions, guardOpenAI } from "../../src/integrations/openai.ts";
import { exampleGuard } from "../../test/support/example-guard.ts";
import { sse, upstreamForTests } from "../../test/support/upstream.ts";

const upstream = upstreamForTests();

async function clientOf(options: GuardedFetchOptions = {}): Promise<OpenAI> {
  const client = new OpenAI({ apiKey: "none", baseURL: `${upstream.url}/v1`, maxRetries: 2 });
  return guardOpenAI(client, await exampleGuard(), options);
}

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const part = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
const item = (text: string, more: object = {}) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [part(text)],
  ...more,
});
const call = (args: string) => ({
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "send",
  arguments: args,
});
const thought = (text: string) => ({ id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text }] });
const response = (...output: object[]) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "gpt",
  output,
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
});
/** The events of a response whose texts and arguments arrive in the given pieces. */
function eventsOf(pieces: string[], args: string[] = [], thoughts: string[] = []) {
  let sequence_number = 0;
  const events: object[] = [];
  const output: object[] = [];
  const add = (type: string, more: object) => events.push({ type, sequence_number: sequence_number++, ...more });
  add("response.created", { response: { ...response(), status: "in_progress" } });
  if (thoughts.length > 0) {
    const at = { item_id: "rs_1", output_index: output.length, summary_index: 0 };
    const whole = thoughts.join("");
    add("response.output_item.added", { output_index: output.length, item: { ...thought(""), summary: [] } });
    add("response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } });
    for (const delta of thoughts) add("response.reasoning_summary_text.delta", { ...at, delta });
    add("response.reasoning_summary_text.done", { ...at, text: whole });
    add("response.reasoning_summary_part.done", { ...at, part: { type: "summary_text", text: whole } });
    add("response.output_item.done", { output_index: output.length, item: thought(whole) });
    output.push(thought(whole));
  }
  if (pieces.length > 0) {
    const at = { item_id: "msg_1", output_index: output.length, content_index: 0 };
    const text = pieces.join("");
    add("response.output_item.added", {
      output_index: output.length,
      item: item("", { status: "in_progress", content: [] }),
    });
    add("response.content_part.added", { ...at, part: part("") });
    for (const delta of pieces) add("response.output_text.delta", { ...at, delta, logprobs: [] });
    add("response.output_text.done", { ...at, text, logprobs: [] });
    add("response.content_part.done", { ...at, part: part(text) });
    add("response.output_item.done", { output_index: output.length, item: item(text) });
    output.push(item(text));
  }
  if (args.length > 0) {
    const at = { item_id: "fc_1", output_index: output.length };
    const whole = args.join("");
    add("response.output_item.added", {
      output_index: output.length,
      item: { ...call(""), status: "in_progress" },
    });
    for (const delta of args) add("response.function_call_arguments.delta", { ...at, delta });
    add("response.function_call_arguments.done", { ...at, name: "send", arguments: whole });
    add("response.output_item.done", { output_index: output.length, item: call(whole) });
    output.push(call(whole));
  }
  add("response.completed", { response: response(...output) });
  return sse(events, "");
}
async function read(stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) {
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("responses of a guarded client", () => {
  it("are sent with placeholders, and returned restored", async () => {
    const client = await clientOf();
    const answer = (mail: string) =>
      response(thought(`Who is ${mail}?`), item(`To ${mail}.`), call(JSON.stringify({ to: mail })));
    upstream.answers = [{ json: answer(HIDDEN) }];
    const body = {
      model: "gpt",
      instructions: `The user is ${MAIL}.`,
      input: [
        { role: "user" as const, content: [{ type: "input_text" as const, text: `Write to ${MAIL}.` }] },
        { type: "function_call_output" as const, call_id: "call_0", output: `{"from":"${MAIL}"}` },
      ],
      previous_response_id: "resp_0",
      store: false,
    };
    const result = await client.responses.create(body);
    expect(result.output).toEqual(answer(MAIL).output);
    expect(result.output_text).toBe(`To ${MAIL}.`);
    expect(upstream.received[0]?.json).toEqual(JSON.parse(JSON.stringify(body).replaceAll(MAIL, HIDDEN)));
  });

  it("accept an input that is a text, and a missing input", async () => {
    const client = await clientOf();
    upstream.answers = [{ json: response(item("Hi")) }];
    await client.responses.create({ model: "gpt", input: MAIL });
    await client.responses.create({ model: "gpt", prompt: { id: "pmpt_1", variables: { to: MAIL } } });
    const [first, second] = upstream.received.map(({ json }) => json);
    expect(first).toEqual({ model: "gpt", input: HIDDEN });
    expect(second).toEqual({ model: "gpt", prompt: { id: "pmpt_1", variables: { to: HIDDEN } } });
    const blocked = client.responses.create({ model: "gpt", instructions: "Say nothing.", input: "forbidden" });
    await expect(blocked).rejects.toBeInstanceOf(GuardBlockedError);
    expect(upstream.received).toHaveLength(2);
  });

  it("return the caller's text if they are blocked", async () => {
    const client = await clientOf({ onBlocked: ({ part }) => `No ${part}.` });
    const body = { model: "gpt", input: "forbidden" };
    expect(await client.responses.create(body)).toMatchObject({ status: "incomplete", output_text: "No request." });
    expect((await client.responses.stream(body).finalResponse()).output_text).toBe("No request.");
    upstream.answers = [{ json: response(item("leaked")) }];
    expect(await client.responses.create({ ...body, input: "Hi" })).toMatchObject({
      id: "resp_1",
      incomplete_details: { reason: "content_filter" },
      output_text: "No answer.",
    });
  });
});

describe("streamed responses", () => {
  it("are restored, also across chunks", async () => {
    const client = await clientOf();
    const said = `To ${HIDDEN}. Bye.`;
    for (let cut = 0; cut <= said.length; cut++) {
      upstream.answers = [{ pieces: eventsOf([said.slice(0, cut), said.slice(cut)]) }];
      const result = await client.responses.stream({ model: "gpt", input: MAIL }).finalResponse();
      expect(result.output_text).toBe(`To ${MAIL}. Bye.`);
    }
  });

  it("contain only checked text in every event", async () => {
    const client = await clientOf();
    const args = ['{"to":"[REDACTED_EM', 'AIL_ADDRESS_1]"}'];
    const events = eventsOf(["To [REDACTED_EMAIL_", "ADDRESS_1]."], args, ["Who is [REDACTED_EM", "AIL_ADDRESS_1]?"]);
    upstream.answers = [{ pieces: events }];
    const received = await read(await client.responses.create({ model: "gpt", input: MAIL, stream: true }));
    expect(JSON.stringify(received)).not.toContain("REDACTED");
    const numbers = received.map(({ sequence_number }) => sequence_number);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    const deltas = received.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []));
    expect(deltas.join("")).toBe(`To ${MAIL}.`);
    const wholes = [thought(`Who is ${MAIL}?`), item(`To ${MAIL}.`), call(`{"to":"${MAIL}"}`)];
    expect(received.at(-1)).toMatchObject({ type: "response.completed", response: { output: wholes } });
    upstream.answers = [{ pieces: events }];
    const result = await client.responses.stream({ model: "gpt", input: MAIL }).finalResponse();
    expect(result.output).toMatchObject(wholes);
  });

  it("throw in the middle if a check fails", async () => {
    const client = await clientOf();
    for (const events of [eventsOf(["It was ", "leaked. "]), eventsOf(["Fine."], ['{"to":"forbid', 'den"}'])]) {
      upstream.answers = [{ pieces: events }];
      const stream = await client.responses.create({ model: "gpt", input: "Hi", stream: true });
      let shown = "";
      const reading = (async () => {
        for await (const event of stream) shown += JSON.stringify(event);
      })();
      await expect(reading).rejects.toBeInstanceOf(GuardBlockedError);
      expect(shown).not.toMatch(/leaked|forbid/);
    }
  });

  it("end with the caller's text, or an error, if a check fails", async () => {
    const client = await clientOf({ onBlocked: () => "Sorry." });
    for (const events of [eventsOf(["It was ", "leaked. "]), eventsOf(["Fine."], ['{"to":"forbid', 'den"}'])]) {
      upstream.answers = [{ pieces: events }];
      const received = await read(await client.responses.create({ model: "gpt", input: "Hi", stream: true }));
      expect(received.at(-1)).toMatchObject({ type: "response.incomplete", response: { status: "incomplete" } });
      expect(JSON.stringify(received)).not.toMatch(/leaked|forbid/);
      upstream.answers = [{ pieces: events }];
      const result = await client.responses.stream({ model: "gpt", input: "Hi" }).finalResponse();
      expect(result.output_text).toMatch(/Sorry\.$/);
    }
    const responding = await clientOf({ onBlocked: "respond" });
    upstream.answers = [{ pieces: eventsOf(["leaked"]) }];
    const stream = await responding.responses.create({ model: "gpt", input: "Hi", stream: true });
    await expect(read(stream)).rejects.toMatchObject({ code: "content_policy_violation" });
  });
});
