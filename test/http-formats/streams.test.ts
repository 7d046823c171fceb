import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Guard, GuardedCall, GuardReport } from "../../src/guard/guard.ts";
import { type GuardedFetchOptions, guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import { diffEdits } from "../../src/scan/edits.ts";
import type { AnswerStream } from "../../src/stream/answer-stream.ts";
import { sse } from "../support/upstream.ts";

const report = (outcome: GuardReport["outcome"]): GuardReport => ({
  outcome,
  isValid: outcome === "passed",
  checks: [],
  resultsScore: outcome === "passed" ? {} : { Words: 1 },
  findings: {},
  coverage: {} as GuardReport["coverage"],
});

/** The calls that a scripted guard received. */
interface Seen {
  signal: AbortSignal | undefined;
  flushes: number;
  ended: number;
}

/** A guard that releases complete words in capitals, and blocks the word `stop`. After a wait it releases a partial word. */
function wordGuard(wait = 1): { guard: Guard; seen: Seen } {
  const seen: Seen = { signal: undefined, flushes: 0, ended: 0 };
  const stream = (): AnswerStream<GuardReport> => {
    let held = "";
    const step = (end: number) => {
      const text = held.slice(0, end);
      if (/\bstop\b/.test(text)) return { text: "", report: report("blocked") };
      held = held.slice(end);
      return { text: text.toUpperCase() };
    };
    return {
      get waiting() {
        return held === "" ? undefined : wait;
      },
      async push(piece) {
        seen.signal?.throwIfAborted();
        held += piece;
        return step(held.lastIndexOf(" ") + 1);
      },
      async flush() {
        seen.flushes += 1;
        return step(held.length);
      },
      async end() {
        seen.ended += 1;
        const last = step(held.length);
        return last.report ? last : { ...last, report: report("passed") };
      },
    };
  };
  const call: GuardedCall = {
    request: async (request) => ({ report: report("passed"), request }),
    texts: async (texts) => ({ report: report("passed"), texts: [...texts] }),
    answer: async ({ text, toolCalls = [] }) => ({
      report: report(/\bstop\b/.test(text + JSON.stringify(toolCalls)) ? "blocked" : "passed"),
      text: text.toUpperCase(),
      edits: diffEdits(text, text.toUpperCase()),
      toolCalls: [...toolCalls],
    }),
    answerStream: stream,
  };
  const guard: Guard = {
    call(options = {}) {
      seen.signal = options.signal;
      return call;
    },
    close: async () => {},
  };
  return { guard, seen };
}

const encoder = new TextEncoder();
const CHAT = { path: "/chat/completions", body: { messages: [{ role: "user", content: "Hi" }], stream: true } };
const chunk = (content: string, index = 0, finish_reason: string | null = null) => ({
  id: "1",
  choices: [{ index, delta: { content }, finish_reason }],
});

/** Sends a request whose answer is a stream of bytes, and returns the reply. */
function ask(
  source: ReadableStream<Uint8Array> | readonly (string | Uint8Array)[],
  options: GuardedFetchOptions & { path?: string; body?: object; wait?: number; signal?: AbortSignal } = {},
) {
  const { path = CHAT.path, body = CHAT.body, wait, signal, ...rest } = options;
  const stream =
    source instanceof ReadableStream
      ? source
      : ReadableStream.from(source.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece)));
  const send = async () => new Response(stream, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  const { guard, seen } = wordGuard(wait);
  const call = guardedFetch(guard, { fetch: send as typeof fetch, ...rest });
  const reply = call(`https://api.example/v1${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return { reply, seen };
}

/** The events of a response. */
function eventsOf(text: string): { event?: string; data: string }[] {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => {
      const event = /^event: ([^\n]*)/m.exec(block)?.[1];
      return { ...(event !== undefined && { event }), data: /^data: ([^\n]*)/m.exec(block)?.[1] ?? "" };
    });
}
function contentOf(text: string, wanted = 0): string {
  return eventsOf(text)
    .filter(({ data }) => data !== "[DONE]")
    .flatMap(({ data }) => JSON.parse(data).choices)
    .filter(({ index }) => index === wanted)
    .map(({ delta }) => delta.content ?? "")
    .join("");
}

describe("guarded streams", () => {
  it("release text while it arrives", async () => {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const source = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given;
      },
    });
    const { reply } = ask(source, { wait: 60_000 });
    controller.enqueue(encoder.encode(sse([chunk("one tw")], "")[0]));
    const reader = ((await reply).body as ReadableStream<Uint8Array>).getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    expect(contentOf(first)).toBe("ONE ");
    controller.enqueue(encoder.encode(sse([chunk("o three", 0, "stop")]).join("")));
    controller.close();
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      rest += new TextDecoder().decode(read.value);
    }
    expect(contentOf(rest)).toBe("TWO THREE");
    expect(rest.endsWith('"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')).toBe(true);
  });

  it("release text that has waited, without new text", async () => {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const source = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given;
      },
    });
    const { reply, seen } = ask(source);
    controller.enqueue(encoder.encode(sse([chunk("wor")], "")[0]));
    const reader = ((await reply).body as ReadableStream<Uint8Array>).getReader();
    expect(contentOf(new TextDecoder().decode((await reader.read()).value))).toBe("WOR");
    expect(seen.flushes).toBe(1);
    await reader.cancel();
  });

  it("are the same whatever the chunks", async () => {
    const events = [
      chunk(""),
      ...["Grüße, ", "👩‍👩‍👧 aus K", "öln\u2028", " \n and ", "more"].map((text) => chunk(text)),
      chunk("other", 1),
      chunk("", 0, "stop"),
      chunk(" text", 1, "length"),
    ];
    const bytes = encoder.encode([": hello\n\n", "retry: 5\n\n", ...sse(events)].join("").replaceAll("\n", "\r\n"));
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(cuts, async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
        const text = await (await ask(pieces, { wait: 60_000 }).reply).text();
        expect(contentOf(text)).toBe("GRÜSSE, 👩‍👩‍👧 AUS KÖLN\u2028 \n AND MORE");
        expect(contentOf(text, 1)).toBe("OTHER TEXT");
        expect(text.startsWith(":\n\n")).toBe(true);
        expect(eventsOf(text).at(-1)?.data).toBe("[DONE]");
      }),
      { numRuns: 60 },
    );
  });

  it("end at a failing check: with an error, a reply, or a text", async () => {
    const pieces = sse([chunk("go "), chunk("st"), chunk("op "), chunk("on", 0, "stop")]);
    const options = { wait: 60_000 };
    await expect((await ask(pieces, options).reply).text()).rejects.toMatchObject({ code: "GUARD_BLOCKED" });
    const told = eventsOf(await (await ask(pieces, { ...options, onBlocked: "respond" }).reply).text());
    expect(told.map(({ data }) => data).slice(1)).toEqual([
      JSON.stringify({
        error: {
          message: "The answer was blocked by guard: Words.",
          type: "invalid_request_error",
          param: null,
          code: "content_policy_violation",
        },
      }),
      "[DONE]",
    ]);
    const text = await (await ask(pieces, { ...options, onBlocked: () => "Sorry." }).reply).text();
    expect(contentOf(text)).toBe("GO Sorry.");
    expect(text).toContain('"finish_reason":"content_filter"');
  });

  it("release the text that is held back before an error of the upstream", async () => {
    const error = { error: { message: "overloaded", type: "server_error" } };
    const events = eventsOf(await (await ask(sse([chunk("one two"), error], ""), { wait: 60_000 }).reply).text());
    expect(
      contentOf(
        `${events
          .slice(0, 2)
          .map(({ data }) => `data: ${data}\n\n`)
          .join("")}`,
      ),
    ).toBe("ONE TWO");
    expect(events[2]?.data).toBe(JSON.stringify(error));
  });

  it("release the end of the reasoning before the answer", async () => {
    const thought = (reasoning_content: string) => ({ id: "1", choices: [{ index: 0, delta: { reasoning_content } }] });
    const events = [thought("I should "), thought("think"), chunk("Well, "), chunk("yes", 0, "stop")];
    const text = await (await ask(sse(events), { wait: 60_000 }).reply).text();
    const deltas = eventsOf(text)
      .filter(({ data }) => data !== "[DONE]")
      .map(({ data }) => JSON.parse(data).choices[0].delta)
      .filter((delta) => Object.values(delta).some((value) => value !== ""));
    expect(deltas).toEqual([
      { reasoning_content: "I SHOULD " },
      { reasoning_content: "THINK" },
      { content: "WELL, " },
      { content: "YES" },
    ]);
  });

  it("forward a chunk without choices, such as one with the usage", async () => {
    const usage = { id: "1", object: "chat.completion.chunk", usage: { total_tokens: 3 } };
    const text = await (await ask(sse([usage, chunk("one", 0, "stop")])).reply).text();
    expect(eventsOf(text)[0]?.data).toBe(JSON.stringify(usage));
    expect(contentOf(text.slice(text.indexOf("\n\n")))).toBe("ONE");
    const unknown = { ...usage, note: "please stop now" };
    await expect((await ask(sse([unknown])).reply).text()).rejects.toThrow("blocked");
  });

  it("keep calls with the same index and other ids apart", async () => {
    const call = (id: string, name: string, args: string) => ({
      id: "1",
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id, function: { name, arguments: args } }] } }],
    });
    const more = {
      id: "1",
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: "}" } }] } }],
    };
    const events = sse([call("a", "f", '{"x":1}'), call("b", "g", '{"y":2'), more, chunk("", 0, "tool_calls")]);
    const [first] = eventsOf(await (await ask(events).reply).text());
    expect(JSON.parse(first?.data as string).choices[0].delta.tool_calls).toEqual([
      { index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } },
      { index: 1, id: "b", function: { name: "g", arguments: '{"y":2}' } },
    ]);
  });

  it("release the rest if upstream ends without a last event", async () => {
    const text = await (await ask([`data: ${JSON.stringify(chunk("one two"))}`], { wait: 60_000 }).reply).text();
    expect(contentOf(text)).toBe("ONE TWO");
  });

  it("fail if upstream fails", async () => {
    const failure = new Error("connection reset");
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(failure);
      },
    });
    await expect((await ask(source, { onBlocked: "respond" }).reply).text()).rejects.toBe(failure);
  });

  it("read only on demand, and stop when the reader cancels", async () => {
    let made = 0;
    let cancelled: unknown;
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          made += 1;
          controller.enqueue(encoder.encode(sse([chunk("word ")], "")[0]));
        },
        cancel(reason) {
          cancelled = reason;
        },
      },
      { highWaterMark: 0 },
    );
    const { reply, seen } = ask(source);
    const reader = ((await reply).body as ReadableStream<Uint8Array>).getReader();
    for (let read = 0; read < 5; read++) await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(made).toBeLessThanOrEqual(7);
    await reader.cancel("enough");
    expect(cancelled).toBe("enough");
    expect(seen.signal?.aborted).toBe(true);
  });

  it("stop with the signal of the caller", async () => {
    const stop = new AbortController();
    const reason = new Error("gone");
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(encoder.encode(sse([chunk("word ")], "")[0]));
        if (!stop.signal.aborted) stop.abort(reason);
      },
    });
    const { reply, seen } = ask(source, { signal: stop.signal });
    await expect((await reply).text()).rejects.toBe(reason);
    expect(seen.signal?.aborted).toBe(true);
  });

  it("need little memory for a long answer", async () => {
    const piece = encoder.encode(sse([chunk("some words ".repeat(100))], "")[0]);
    let left = 10_000;
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          left -= 1;
          if (left < 0) controller.close();
          else controller.enqueue(piece);
        },
      },
      { highWaterMark: 0 },
    );
    const { reply } = ask(source, { wait: 60_000 });
    let length = 0;
    let most = 0;
    for await (const bytes of (await reply).body as ReadableStream<Uint8Array>) {
      length += bytes.length;
      most = Math.max(most, bytes.length);
    }
    expect(length).toBeGreaterThan(11_000_000);
    // The events do not accumulate the answer: each is about as long as its source.
    expect(most).toBeLessThan(2 * piece.length);
  });

  describe("tell how much they hold", () => {
    /** The largest and the last size that a stream of events reports, and how much it sent. */
    async function sizes(events: readonly unknown[], call: { path?: string; body?: object } = {}) {
      const held: number[] = [];
      const pieces = sse(events, "").flatMap((text) => [text.slice(0, 10), text.slice(10)]);
      const { reply } = ask(pieces, { ...call, wait: 60_000, onBuffered: (chars) => void held.push(chars) });
      const { length } = await (await reply).text();
      return { largest: Math.max(...held), last: held.at(-1) as number, length };
    }
    const times = <T>(count: number, event: (index: number) => T) =>
      Array.from({ length: count }, (_, at) => event(at));
    const LONG = "1".repeat(1000);
    const responses = { path: "/responses", body: { input: "Hi", stream: true } };
    const messages = { path: "/messages", body: { messages: CHAT.body.messages, stream: true } };

    it("when text passes", async () => {
      const passing = await sizes(times(500, () => chunk("some words ".repeat(100))));
      expect(passing.length).toBeGreaterThan(500_000);
      expect(passing.largest).toBeLessThan(8000);
    });

    it("when text waits", async () => {
      const { largest, last } = await sizes([...times(100, () => chunk(LONG)), chunk(" end", 0, "stop")]);
      expect(largest).toBeGreaterThan(100_000);
      expect(last).toBeLessThan(1000);
    });

    it("when there are many texts", async () => {
      const { largest } = await sizes(times(100, (index) => chunk("a", index)));
      expect(largest).toBeGreaterThan(100_000);
    });

    it("when a tool call waits", async () => {
      const choice = (more: object) => ({ id: "1", choices: [{ index: 0, finish_reason: null, ...more }] });
      const piece = choice({ delta: { tool_calls: [{ index: 0, function: { arguments: LONG } }] } });
      const fields = (index: number) =>
        choice({ delta: { tool_calls: [{ index: 0, [`field_${index}`]: { value: LONG } }] } });
      const item = { type: "function_call", id: "fc_1", name: "f", arguments: "" };
      const cases = [
        sizes([...times(100, () => piece), chunk("", 0, "tool_calls")]),
        sizes([...times(100, fields), chunk("", 0, "tool_calls")]),
        sizes(
          [
            {
              type: "content_block_start",
              index: 0,
              content_block: { type: "tool_use", id: "t", name: "f", input: {} },
            },
            ...times(100, () => ({
              type: "content_block_delta",
              index: 0,
              delta: { type: "input_json_delta", partial_json: LONG },
            })),
            { type: "content_block_stop", index: 0 },
            { type: "message_stop" },
          ],
          messages,
        ),
        sizes(
          [
            { type: "response.output_item.added", output_index: 0, item },
            ...times(100, () => ({ type: "response.function_call_arguments.delta", output_index: 0, delta: LONG })),
            { type: "response.output_item.done", output_index: 0, item: { ...item, arguments: "{}" } },
          ],
          responses,
        ),
      ];
      for (const { largest, last } of await Promise.all(cases)) {
        expect(largest).toBeGreaterThan(100_000);
        expect(last).toBeLessThan(1000);
      }
    });

    it("when ended items are kept for the last event", async () => {
      const content = [{ type: "output_text", text: LONG, annotations: [] }];
      const ended = (index: number) => ({
        type: "response.output_item.done",
        output_index: index,
        item: { type: "message", id: `msg_${index}`, content },
      });
      expect((await sizes(times(100, ended), responses)).last).toBeGreaterThan(100_000);
    });
  });

  it("contain no event with held text", async () => {
    const logprobs = { content: [{ token: "stop", logprob: -1 }] };
    const [first] = chunk("st").choices;
    const events = [
      { id: "1", choices: [{ ...first, logprobs, message: { role: "assistant", content: "stop" } }] },
      { id: "1", choices: [{ index: 0, delta: { reasoning_details: [{ type: "reasoning.text", text: "st" }] } }] },
      { id: "1", choices: [{ index: 0, delta: { reasoning_details: [{ type: "reasoning.text", text: "op" }] } }] },
      { id: "1", choices: [{ index: 0, delta: { unknown_text: "sto" } }] },
      { id: "1", choices: [{ index: 0, delta: { unknown_text: "p" } }] },
    ];
    const reply = await ask(sse(events), { wait: 60_000, onBlocked: "respond" }).reply;
    expect((await reply.text()).toLowerCase()).not.toMatch(/"st|stop/);
  });

  it("hold tool calls until they are complete", async () => {
    const piece = (index: number, more: object) => ({
      id: "1",
      choices: [{ index: 0, delta: { tool_calls: [{ index, ...more }] }, finish_reason: null }],
    });
    const called = (args: string[]) => [
      piece(0, { id: "a", type: "function", function: { name: "f", arguments: "" } }),
      ...args.map((text) => piece(0, { function: { arguments: text } })),
      piece(1, { id: "b", type: "function", function: { name: "g", arguments: "{}" }, extra: { signature: "x" } }),
      chunk("", 0, "tool_calls"),
    ];
    const reply = await ask(sse(called(['{"a"', ":1.0}"]))).reply;
    const events = eventsOf(await reply.text()).map(({ data }) => data);
    expect(JSON.parse(events[0] as string).choices[0].delta.tool_calls).toEqual([
      { index: 0, id: "a", type: "function", function: { name: "f", arguments: '{"a":1.0}' } },
      { index: 1, id: "b", type: "function", function: { name: "g", arguments: "{}" }, extra: { signature: "x" } },
    ]);
    expect(events).toHaveLength(3);
    await expect((await ask(sse(called(['"st', 'op"']))).reply).text()).rejects.toThrow("blocked");
  });

  it("support the events of completions and of transcripts", async () => {
    const text = (text: string, finish_reason: string | null = null) => ({
      id: "1",
      choices: [{ index: 0, text, finish_reason, logprobs: { tokens: [text] } }],
    });
    const completion = await ask(sse([text("one t"), text("wo", "stop")]), {
      path: "/completions",
      body: { prompt: "Hi", stream: true },
      wait: 60_000,
    }).reply;
    const chunks = eventsOf(await completion.text()).map(({ data }) => data);
    const choices = chunks.slice(0, -1).map((data) => JSON.parse(data).choices[0]);
    expect(choices.map(({ text }) => text).join("")).toBe("ONE TWO");
    expect(choices.at(-1)).toMatchObject({ finish_reason: "stop" });
    expect(chunks.join("")).not.toContain("tokens");

    const events = [
      { type: "transcript.text.delta", delta: "one t" },
      { type: "transcript.text.delta", delta: "wo" },
      { type: "transcript.text.done", text: "one two" },
    ];
    const { guard } = wordGuard(60_000);
    const send = async () => new Response(sse(events).join(""), { headers: { "content-type": "text/event-stream" } });
    const form = new FormData();
    form.append("stream", "true");
    const call = guardedFetch(guard, { fetch: send as typeof fetch });
    const reply = await call("https://api.example/v1/audio/transcriptions", { method: "POST", body: form });
    const read = eventsOf(await reply.text()).map(({ data }) => data);
    expect(read.slice(0, -1).map((data) => JSON.parse(data))).toEqual([
      { type: "transcript.text.delta", delta: "ONE " },
      { type: "transcript.text.delta", delta: "TWO" },
      { type: "transcript.text.done", text: "ONE TWO" },
    ]);
  });
});
