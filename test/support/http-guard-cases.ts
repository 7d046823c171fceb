import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Guard } from "../../src/guard/guard.ts";
import { LocalGuard } from "../../src/guard/local-guard.ts";
import { Anonymize } from "../../src/scanners/generated/input-scanners.ts";
import { BanSubstrings, Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import { scannerOf } from "../server/fixtures.ts";
import { PassThroughGuard } from "./pass-through-guard.ts";
import { serviceWith } from "./service.ts";

/** What the handlers of a test application received. */
export interface HandlerLog {
  bodies: unknown[];
  /** The errors that reached the application's error handler. */
  errors: unknown[];
}

/**
 * Starts an application that runs until the test ends. Its routes accept JSON, and each handler records the body:
 *
 * - `POST /chat` checks `body.messages`, and replies `{ reply: { text } }`, of which `reply.text` is checked. The text is `ECHO: ` and the content
 *   of the last message.
 * - `POST /whole` checks `body`, and replies `{ ok: true }` without a check.
 * - `POST /field` checks `body.texts[0]`, selected by functions, and replies with the texts, checked as one text.
 * - `POST /stream` checks no request, and streams `body.pieces`, with a delay of `body.wait` milliseconds before each.
 * - `POST /stream/sorry` does the same, and its `onBlocked` replies `Sorry.` with status 451.
 * - `POST /endless` replies with a stream that sends one piece and stays open.
 *
 * @returns the URL of the server.
 */
export type StartApplication = (guard: Guard, seen: HandlerLog) => Promise<string>;

/** Yields the pieces of a stream, with a delay of `wait` milliseconds before each. */
export async function* delayedPieces(pieces: readonly string[], wait: number): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await sleep(wait);
    yield Buffer.from(piece);
  }
}

/** Makes streams that send one piece and stay open, and counts those that were cancelled. */
export const endlessStreams = {
  ended: 0,
  stream(): ReadableStream<string> {
    return new ReadableStream<string>({
      start: (controller) => controller.enqueue("One piece. "),
      cancel: () => {
        endlessStreams.ended += 1;
      },
    });
  },
};

async function exampleGuard(): Promise<Guard> {
  const zebra = new BanSubstrings({ substrings: ["zebra"] });
  const { service } = await serviceWith({
    input: [new Anonymize({ recognizerConf: [] }), zebra],
    output: [new Deanonymize(), zebra],
  });
  return new LocalGuard(service);
}

/** The tests for every web framework. */
export function httpGuardCases(start: StartApplication): void {
  const open = async (guard: Guard) => {
    const seen: HandlerLog = { bodies: [], errors: [] };
    const url = await start(guard, seen);
    const post = (path: string, body: unknown, init: RequestInit = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        ...init,
      });
    return { url, seen, post };
  };

  it("gives the handler a sanitized body and restores values in its answer", async () => {
    const { seen, post } = await open(await exampleGuard());
    const messages = [{ role: "user", content: "Write to ann@example.org." }];
    const reply = await post("/chat", { model: "m", messages });
    expect(seen.bodies).toEqual([
      { model: "m", messages: [{ role: "user", content: "Write to [REDACTED_EMAIL_ADDRESS_1]." }] },
    ]);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ reply: { text: "ECHO: Write to ann@example.org." } });
  });

  it("checks a whole body in chat format, and keeps its other fields", async () => {
    const { seen, post } = await open(await exampleGuard());
    const reply = await post("/whole", {
      temperature: 0.5,
      system: "You help bob@example.org.",
      messages: [{ role: "user", content: [{ type: "text", text: "And ann@example.org?" }] }],
    });
    expect(reply.status).toBe(200);
    const [body] = seen.bodies as [{ temperature: number; messages: unknown[] }];
    expect(body.temperature).toBe(0.5);
    expect(JSON.stringify(body.messages)).not.toContain("ann@example.org");
  });

  it("checks and replaces the texts that functions select", async () => {
    const { seen, post } = await open(await exampleGuard());
    const reply = await post("/field", { texts: ["Call ann@example.org", "and nobody else"] });
    expect(seen.bodies).toEqual([{ texts: ["Call [REDACTED_EMAIL_ADDRESS_1]", "and nobody else"] }]);
    expect(reply.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await reply.text()).toBe("Call ann@example.org and nobody else");
  });

  it("replies to a blocked request with a problem, and does not call the handler", async () => {
    const { seen, post } = await open(await exampleGuard());
    const reply = await post("/chat", { messages: [{ role: "user", content: "a zebra" }] });
    expect(reply.status).toBe(400);
    expect(reply.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    const detail = "The request was blocked by guard: BanSubstrings, BanSubstrings[window].";
    expect(await reply.json()).toEqual({ type: "about:blank", title: "Bad Request", status: 400, detail });
    expect(seen).toEqual({ bodies: [], errors: [] });
  });

  it("replies with a problem instead of a blocked answer", async () => {
    const guard = await exampleGuard();
    const { post } = await open({
      close: () => guard.close(),
      call: (options) => {
        const call = guard.call(options);
        // The request passes, so that the word reaches the answer.
        return {
          ...methods(call),
          request: async (chat) => ({
            ...(await call.request({ messages: [{ role: "user", content: "a" }] })),
            request: chat,
          }),
        };
      },
    });
    const reply = await post("/chat", { messages: [{ role: "user", content: "a zebra" }] });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ detail: "The answer was blocked by guard: BanSubstrings." });
  });

  it.each([
    ["a missing value", {}, "body.messages"],
    ["a number", { messages: 7 }, "body.messages"],
    ["an empty list of messages", { messages: [] }, "body.messages"],
    ["a message with an unknown role", { messages: [{ role: "boss", content: "Hi" }] }, "body.messages.0.role"],
  ])("rejects %s, and names its path", async (_, body, path) => {
    const { seen, post } = await open(await exampleGuard());
    const reply = await post("/chat", body);
    expect(reply.status).toBe(422);
    expect(seen.bodies).toEqual([]);
    expect(seen.errors).toMatchObject([
      { code: "GUARD_VALIDATION", statusCode: 422, message: expect.stringContaining(`${path}: `) },
    ]);
  });

  it("fails if a scanner fails, and quotes no text", async () => {
    const broken = scannerOf("Broken", async (text) => {
      throw new Error(`cannot read ${text}`);
    });
    const { service } = await serviceWith({ input: [broken] });
    const { seen, post } = await open(new LocalGuard(service));
    const reply = await post("/chat", { messages: [{ role: "user", content: "my secret" }] });
    expect(reply.status).toBe(500);
    expect(await reply.text()).not.toContain("my secret");
    expect(seen.bodies).toEqual([]);
    expect(seen.errors).toMatchObject([{ message: "The scanner Broken failed.", statusCode: 500 }]);
    expect(JSON.stringify(seen.errors)).not.toContain("my secret");
  });

  it("sends a stream of text as it arrives", async () => {
    const { post } = await open(new PassThroughGuard());
    const reply = await post("/stream", { pieces: ["Grüße, ", "Ann", ""], wait: 5 });
    expect(reply.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await reply.text()).toBe("Grüße, Ann");
  });

  it("checks a stream, and restores values that are split between pieces", async () => {
    const { post } = await open(await exampleGuard());
    const reply = await post("/stream", { pieces: ["To ann@exa", "mple.org. Or ", "nobody."], wait: 0 });
    expect(await reply.text()).toBe("To ann@example.org. Or nobody.");
  });

  it("sends an error status if a stream is blocked before its first text", async () => {
    const { post } = await open(new PassThroughGuard());
    const reply = await post("/stream", { pieces: ["a zebra"], wait: 0 });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ detail: "The answer was blocked by guard: Word." });
    const sorry = await post("/stream/sorry", { pieces: ["a zebra"], wait: 0 });
    expect([sorry.status, await sorry.text()]).toEqual([451, "Sorry."]);
  });

  it("ends a stream that is blocked later with the text of onBlocked, or closes the connection", async () => {
    const { post } = await open(new PassThroughGuard());
    const sorry = await post("/stream/sorry", { pieces: ["One. ", "a zebra", "Two. "], wait: 5 });
    expect(await sorry.text()).toBe("One. Sorry.");
    const cut = await post("/stream", { pieces: ["One. ", "a zebra", "Two. "], wait: 5 });
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow();
  });

  it("stops the checks and the stream when the client disconnects", async () => {
    const guard = new PassThroughGuard();
    const before = endlessStreams.ended;
    const { post } = await open(guard);
    const gone = new AbortController();
    const reply = await post("/endless", {}, { signal: gone.signal });
    await reply.body?.getReader().read();
    expect(guard.signals[0]?.aborted).toBe(false);
    gone.abort();
    await expect.poll(() => guard.signals[0]?.aborted).toBe(true);
    await expect.poll(() => endlessStreams.ended).toBe(before + 1);
  });

  it("does not abort the signal after a complete reply", async () => {
    const guard = new PassThroughGuard();
    const { post } = await open(guard);
    await (await post("/whole", { messages: [{ role: "user", content: "Hi" }] })).text();
    await sleep(20);
    expect(guard.signals[0]?.aborted).toBe(false);
  });

  it("replies 502 if the guard server cannot be reached", async () => {
    const { seen, post } = await open(new PassThroughGuard());
    const reply = await post("/field", { texts: ["away"] });
    expect(reply.status).toBe(502);
    expect(seen.bodies).toEqual([]);
  });
}

/** Copies the methods of a call, because a spread omits those of its class. */
function methods(call: ReturnType<Guard["call"]>): ReturnType<Guard["call"]> {
  return {
    request: (chat) => call.request(chat),
    texts: (texts, source) => call.texts(texts, source),
    answer: (answer) => call.answer(answer),
    answerStream: () => call.answerStream(),
  };
}
