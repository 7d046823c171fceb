import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import { exampleGuard } from "../support/example-guard.ts";
import { sse } from "../support/upstream.ts";

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";

/** A format: its path, the events of an answer in pieces, and the text that a client shows for an event. */
interface Streamed {
  path: string;
  events(pieces: readonly string[]): string[];
  // biome-ignore lint/suspicious/noExplicitAny: events have any shape.
  shown(data: any): string | undefined;
}

const FORMATS: Streamed[] = [
  {
    path: "/chat/completions",
    events: (pieces) => {
      const chunk = (delta: object, finish_reason: string | null = null) => ({
        id: "1",
        choices: [{ index: 0, delta, finish_reason }],
      });
      return sse([...pieces.map((content) => chunk({ content })), chunk({}, "stop")]);
    },
    shown: ({ choices }) => choices?.[0].delta.content,
  },
  {
    path: "/completions",
    events: (pieces) =>
      sse(
        pieces.map((text, index) => ({
          id: "1",
          choices: [{ index: 0, text, finish_reason: index === pieces.length - 1 ? "stop" : null }],
        })),
      ),
    shown: ({ choices }) => choices?.[0].text,
  },
  {
    path: "/responses",
    events: (pieces) => {
      const at = { output_index: 0, item_id: "m", content_index: 0 };
      return sse([
        { type: "response.created", response: { id: "1", output: [] } },
        { type: "response.output_item.added", output_index: 0, item: { id: "m", type: "message", content: [] } },
        ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
        { type: "response.output_text.done", ...at, text: pieces.join("") },
      ]);
    },
    shown: ({ type, delta }) => (type === "response.output_text.delta" ? delta : undefined),
  },
  {
    path: "/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    events: (pieces) =>
      sse(
        pieces.map((text, index) => ({
          candidates: [
            { index: 0, content: { parts: [{ text }] }, ...(index === pieces.length - 1 && { finishReason: "STOP" }) },
          ],
        })),
        "",
      ),
    shown: ({ candidates }) => candidates?.[0].content?.parts[0].text,
  },
  {
    path: "/messages",
    events: (pieces) =>
      sse([
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        ...pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
        { type: "content_block_stop", index: 0 },
      ]),
    shown: ({ type, delta }) => (type === "content_block_delta" ? delta.text : undefined),
  },
];

/** Words with punctuation and placeholders among them. */
const answers = fc
  .array(
    fc.constantFrom(
      HIDDEN,
      "Grüße",
      "word",
      "\n\n",
      ". ",
      "! ",
      "👩‍👩‍👧",
      "[REDACTED",
      "e\u0301",
      "数据",
      "$1",
      "leak",
    ),
    { minLength: 1, maxLength: 25 },
  )
  .map((words) => words.join(" "));

/** Splits a text at any offsets, also within a character. */
function split(text: string, places: readonly number[]): string[] {
  const cuts = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
}

describe.each(FORMATS)("a stream of $path", ({ path, events, shown }) => {
  async function ask(pieces: readonly string[], guard: Awaited<ReturnType<typeof exampleGuard>>) {
    const type = { headers: { "content-type": "text/event-stream" } };
    const send = async () => new Response(events(pieces).join(""), type);
    const messages = [{ role: "user", content: MAIL }];
    const body = { messages, contents: { parts: { text: MAIL } }, input: MAIL, prompt: MAIL, stream: true };
    const call = guardedFetch(guard, { fetch: send as typeof fetch, onBlocked: "respond" });
    const reply = await call(`https://a.example${path}`, { method: "POST", body: JSON.stringify(body) });
    return reply.text();
  }
  const textOf = (reply: string) =>
    reply
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => shown(JSON.parse(line.slice(6))) ?? "")
      .join("");

  it("equals the whole restored answer, whatever the chunks", async () => {
    const guard = await exampleGuard();
    const places = fc.array(fc.nat(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(answers, places, async (answer, places) => {
        const reply = await ask(split(answer, places), guard);
        expect(textOf(reply)).toBe(answer.replaceAll(HIDDEN, MAIL));
      }),
      { numRuns: 60 },
    );
  });

  it("shows nothing of a blocked word, whatever the chunks", async () => {
    const guard = await exampleGuard();
    const places = fc.array(fc.nat(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(answers, answers, places, async (before, after, places) => {
        const reply = await ask(split(`${before} leaked ${after}`, places), guard);
        expect(reply).toContain("The answer was blocked by guard: BanSubstrings.");
        expect(textOf(reply)).not.toContain("leaked");
        expect(`${before} `.replaceAll(HIDDEN, MAIL).startsWith(textOf(reply))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
