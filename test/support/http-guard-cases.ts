import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Guard } from "../../src/guard/guard.ts";
import { ServiceGuard } from "../../src/guard/service-guard.ts";
import { Anonymize } from "../../src/scanners/generated/input-scanners.ts";
import { BanSubstrings, Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import { scannerOf } from "../server/fixtures.ts";
import { LettingThrough } from "./letting-through.ts";
import { serviceWith } from "./service.ts";

/** What a handler of a test application saw. */
export interface Seen {
  bodies: unknown[];
  /** The errors that reached the error handler of the application. */
  errors: unknown[];
}

/**
 * Starts an application until the test ends. Its routes take JSON; each notes the body that its handler sees:
 *
 * - `POST /chat` judges `body.messages`, and answers with the object `{ reply: { text } }`, judged at `reply.text`. The text is
 *   `ECHO: ` and the content of the last message.
 * - `POST /whole` judges `body`, and answers `{ ok: true }` without a check.
 * - `POST /field` judges `body.texts[0]` with functions, and answers with the texts, judged as one text.
 * - `POST /stream` judges nothing, and answers with a stream of `body.pieces`, with `body.wait` milliseconds before each.
 * - `POST /stream/sorry` does the same, and its `onBlocked` answers `Sorry.` with status 451.
 * - `POST /endless` answers with a stream that says one piece and never goes on.
 *
 * @returns the address of the server.
 */
export type StartApplication = (guard: Guard, seen: Seen) => Promise<string>;

/** The pieces of a stream, one after the other. */
export async function* piecesAfter(pieces: readonly string[], wait: number): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await sleep(wait);
    yield Buffer.from(piece);
  }
}

/** Makes streams that say one piece and never go on, and counts how many were ended. */
export const endless = {
  ended: 0,
  stream(): ReadableStream<string> {
    return new ReadableStream<string>({
      start: (controller) => controller.enqueue("One piece. "),
      cancel: () => {
        endless.ended += 1;
      },
    });
  },
};

async function guarding(): Promise<Guard> {
  const zebra = new BanSubstrings({ substrings: ["zebra"] });
  const { service } = await serviceWith({
    input: [new Anonymize({ recognizerConf: [] }), zebra],
    output: [new Deanonymize(), zebra],
  });
  return new ServiceGuard(service);
}

/** What is the same in all web frameworks. */
export function httpGuardCases(start: StartApplication): void {
  const open = async (guard: Guard) => {
    const seen: Seen = { bodies: [], errors: [] };
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
    const { seen, post } = await open(await guarding());
    const messages = [{ role: "user", content: "Write to ann@example.org." }];
    const reply = await post("/chat", { model: "m", messages });
    expect(seen.bodies).toEqual([
      { model: "m", messages: [{ role: "user", content: "Write to [REDACTED_EMAIL_ADDRESS_1]." }] },
    ]);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ reply: { text: "ECHO: Write to ann@example.org." } });
  });

  it("reads a whole body in chat format, and keeps what stands beside it", async () => {
    const { seen, post } = await open(await guarding());
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

  it("reads and replaces what functions say", async () => {
    const { seen, post } = await open(await guarding());
    const reply = await post("/field", { texts: ["Call ann@example.org", "and nobody else"] });
    expect(seen.bodies).toEqual([{ texts: ["Call [REDACTED_EMAIL_ADDRESS_1]", "and nobody else"] }]);
    expect(reply.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await reply.text()).toBe("Call ann@example.org and nobody else");
  });

  it("answers a blocked request by a problem, and does not call the handler", async () => {
    const { seen, post } = await open(await guarding());
    const reply = await post("/chat", { messages: [{ role: "user", content: "a zebra" }] });
    expect(reply.status).toBe(400);
    expect(reply.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    const detail = "The request was blocked by guard: BanSubstrings, BanSubstrings[window].";
    expect(await reply.json()).toEqual({ type: "about:blank", title: "Bad Request", status: 400, detail });
    expect(seen).toEqual({ bodies: [], errors: [] });
  });

  it("answers by a problem in the place of a blocked answer", async () => {
    const guard = await guarding();
    const { post } = await open({
      close: () => guard.close(),
      call: (options) => {
        const call = guard.call(options);
        // The request passes, so that the answer has the word that blocks.
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
    ["nothing where the value should be", {}, "body.messages"],
    ["a number", { messages: 7 }, "body.messages"],
    ["no message at all", { messages: [] }, "body.messages"],
    ["a message of no known role", { messages: [{ role: "boss", content: "Hi" }] }, "body.messages.0.role"],
  ])("refuses %s, with its path", async (_, body, path) => {
    const { seen, post } = await open(await guarding());
    const reply = await post("/chat", body);
    expect(reply.status).toBe(422);
    expect(seen.bodies).toEqual([]);
    expect(seen.errors).toMatchObject([
      { code: "GUARD_VALIDATION", statusCode: 422, message: expect.stringContaining(`${path}: `) },
    ]);
  });

  it("fails when guard cannot check, and quotes no text", async () => {
    const broken = scannerOf("Broken", async (text) => {
      throw new Error(`cannot read ${text}`);
    });
    const { service } = await serviceWith({ input: [broken] });
    const { seen, post } = await open(new ServiceGuard(service));
    const reply = await post("/chat", { messages: [{ role: "user", content: "my secret" }] });
    expect(reply.status).toBe(500);
    expect(await reply.text()).not.toContain("my secret");
    expect(seen.bodies).toEqual([]);
    expect(seen.errors).toMatchObject([{ message: "The scanner Broken failed.", statusCode: 500 }]);
    expect(JSON.stringify(seen.errors)).not.toContain("my secret");
  });

  it("sends a stream of text as it arrives", async () => {
    const { post } = await open(new LettingThrough());
    const reply = await post("/stream", { pieces: ["Grüße, ", "Ann", ""], wait: 5 });
    expect(reply.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await reply.text()).toBe("Grüße, Ann");
  });

  it("judges a stream, and restores values that its pieces cut in two", async () => {
    const { post } = await open(await guarding());
    const reply = await post("/stream", { pieces: ["To ann@exa", "mple.org. Or ", "nobody."], wait: 0 });
    expect(await reply.text()).toBe("To ann@example.org. Or nobody.");
  });

  it("gives a stream that is blocked before it began another status", async () => {
    const { post } = await open(new LettingThrough());
    const reply = await post("/stream", { pieces: ["a zebra"], wait: 0 });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ detail: "The answer was blocked by guard: Word." });
    const sorry = await post("/stream/sorry", { pieces: ["a zebra"], wait: 0 });
    expect([sorry.status, await sorry.text()]).toEqual([451, "Sorry."]);
  });

  it("ends a stream that is blocked later by the user's text, or cuts the connection", async () => {
    const { post } = await open(new LettingThrough());
    const sorry = await post("/stream/sorry", { pieces: ["One. ", "a zebra", "Two. "], wait: 5 });
    expect(await sorry.text()).toBe("One. Sorry.");
    const cut = await post("/stream", { pieces: ["One. ", "a zebra", "Two. "], wait: 5 });
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow();
  });

  it("ends the checks and the stream when the client goes away", async () => {
    const guard = new LettingThrough();
    const before = endless.ended;
    const { post } = await open(guard);
    const gone = new AbortController();
    const reply = await post("/endless", {}, { signal: gone.signal });
    await reply.body?.getReader().read();
    expect(guard.signals[0]?.aborted).toBe(false);
    gone.abort();
    await expect.poll(() => guard.signals[0]?.aborted).toBe(true);
    await expect.poll(() => endless.ended).toBe(before + 1);
  });

  it("leaves the signal alone when the answer is out", async () => {
    const guard = new LettingThrough();
    const { post } = await open(guard);
    await (await post("/whole", { messages: [{ role: "user", content: "Hi" }] })).text();
    await sleep(20);
    expect(guard.signals[0]?.aborted).toBe(false);
  });

  it("says that a server of guard is away", async () => {
    const { seen, post } = await open(new LettingThrough());
    const reply = await post("/field", { texts: ["away"] });
    expect(reply.status).toBe(502);
    expect(seen.bodies).toEqual([]);
  });
}

/** The methods of a call, which stand on its class. */
function methods(call: ReturnType<Guard["call"]>): ReturnType<Guard["call"]> {
  return {
    request: (chat) => call.request(chat),
    texts: (texts, source) => call.texts(texts, source),
    answer: (answer) => call.answer(answer),
    answerStream: () => call.answerStream(),
  };
}
