import { describe, expect, it } from "vitest";
import { sse, upstreamForTests } from "../../test/support/upstream.ts";
import { startedProxy } from "./started.ts";

const upstream = upstreamForTests();

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const MODEL = "/v1beta/models/gemini-2.5-flash";
const VERTEX = "/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash";
const ask = (text: string) => ({ contents: [{ role: "user", parts: [{ text }] }] });
const answer = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }], role: "model" }, ...(finishReason && { finishReason }), index: 0 }],
  usageMetadata: { promptTokenCount: 4, totalTokenCount: 9 },
  modelVersion: "gemini-2.5-flash",
});

/** A client that sends what Google's SDK for JavaScript sends, and takes errors of streams as it does. */
async function google() {
  const { url, calls } = await startedProxy([`/google=${upstream.url}`, "http://127.0.0.1:9"]);
  const post = (path: string, body: object) =>
    fetch(`${url}/google${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-goog-api-key": "AIza-of-ann",
        "x-goog-api-client": "google-genai-sdk/1.30.0 gl-node/v24",
      },
      body: JSON.stringify(body),
    });
  /** Reads a stream. An error of the SDK is a chunk of bytes that is JSON with an error. */
  async function read(reply: Response) {
    let text = "";
    let finished: Record<string, unknown> = {};
    let buffer = "";
    const decoder = new TextDecoder();
    for await (const bytes of reply.body as unknown as AsyncIterable<Uint8Array>) {
      const piece = decoder.decode(bytes, { stream: true });
      if (piece.startsWith('{"error":')) return { text, finished, error: JSON.parse(piece).error };
      buffer += piece;
      for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
        const { candidates } = JSON.parse(buffer.slice("data: ".length, end));
        buffer = buffer.slice(end + 2);
        text += candidates?.[0].content?.parts[0].text ?? "";
        if (candidates?.[0].finishReason) finished = candidates[0];
      }
    }
    // The SDK raises an error for what follows the last empty line.
    return { text, finished, ...(buffer !== "" && { error: JSON.parse(buffer).error }) };
  }
  return { post, read, calls };
}

describe("a client of Google behind guard proxy", () => {
  it.each([MODEL, VERTEX])("sends placeholders and its key, and receives the restored answer: %s", async (model) => {
    const { post, calls } = await google();
    upstream.answers = [{ json: answer(`I wrote to ${HIDDEN}.`, "STOP") }];
    const reply = await post(`${model}:generateContent?key=k`, ask(`Write to ${MAIL}.`));
    expect(await reply.json()).toEqual(answer(`I wrote to ${MAIL}.`, "STOP"));
    expect(upstream.received).toMatchObject([
      {
        url: `${model}:generateContent?key=k`,
        json: ask(`Write to ${HIDDEN}.`),
        headers: { "x-goog-api-key": "AIza-of-ann", via: "1.1 guard" },
      },
    ]);
    await expect.poll(calls).toMatchObject([{ call: "Google Gemini", upstream: "/google", outcome: "masked" }]);
  });

  it("reads streams: server-sent events, and a JSON array", async () => {
    const { post, read } = await google();
    const events = [answer("I wrote to [REDACTED_EMAIL"), answer("_ADDRESS_1], and"), answer(" no more.", "STOP")];
    upstream.answers = [{ pieces: sse(events, "") }];
    const path = `${MODEL}:streamGenerateContent`;
    const shown = await read(await post(`${path}?alt=sse`, ask(`Write to ${MAIL}.`)));
    expect(shown).toMatchObject({ text: `I wrote to ${MAIL}, and no more.`, finished: { finishReason: "STOP" } });
    const pieces = [
      "[",
      JSON.stringify(events[0]),
      ",\r\n",
      `${JSON.stringify(events[1])}\n,${JSON.stringify(events[2])}]`,
    ];
    upstream.answers = [{ pieces, headers: { "content-type": "application/json" } }];
    const list = (await (await post(path, ask(`Write to ${MAIL}.`))).json()) as ReturnType<typeof answer>[];
    const texts = list.flatMap(({ candidates }) => candidates).flatMap(({ content }) => content.parts);
    expect(texts.map(({ text }) => text).join("")).toBe(`I wrote to ${MAIL}, and no more.`);
  });

  it("receives Google's errors for blocked calls and for other paths", async () => {
    const { post, read } = await google();
    const blocked = await post(`${MODEL}:generateContent`, ask("forbidden"));
    const error = { code: 403, message: expect.stringContaining("blocked by guard"), status: "PERMISSION_DENIED" };
    expect([blocked.status, await blocked.json()]).toEqual([403, { error }]);
    const unknown = await post(`${MODEL}:batchGenerateContent`, ask("Hi"));
    const missing = { code: 404, message: expect.stringContaining("cannot check calls"), status: "NOT_FOUND" };
    expect([unknown.status, await unknown.json()]).toEqual([404, { error: missing }]);
    const escaped = await post(`${MODEL}%3AgenerateContent`, ask("Hi"));
    expect(escaped.status).toBe(404);
    expect(upstream.received).toEqual([]);
    upstream.answers = [{ pieces: sse([answer("This was "), answer("leaked", "STOP")], "") }];
    expect(await read(await post(`${MODEL}:streamGenerateContent?alt=sse`, ask("Hi")))).toEqual({
      text: expect.not.stringContaining("leaked"),
      finished: { index: 0, finishReason: "PROHIBITED_CONTENT", finishMessage: expect.stringContaining("blocked") },
      error,
    });
  });

  it("counts tokens and embeds, and lists models", async () => {
    const { post } = await google();
    upstream.answers = [{ json: { totalTokens: 3 } }];
    await post(`${MODEL}:countTokens`, ask(MAIL));
    await post("/v1beta/models/gemini-embedding-001:batchEmbedContents", {
      requests: [{ model: "models/gemini-embedding-001", content: { parts: [{ text: MAIL }], role: "user" } }],
    });
    expect(upstream.received.map(({ text }) => [text.includes(HIDDEN), text.includes(MAIL)])).toEqual([
      [true, false],
      [true, false],
    ]);
  });
});
