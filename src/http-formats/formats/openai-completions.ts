import type { GuardedCall } from "../../guard/guard.ts";
import { Channels } from "../channels.ts";
import { unreadable, type WireError } from "../errors.ts";
import type { Format, FormatOptions, Json, StreamGuard, TextSlot } from "../format.ts";
import { names, parsedObject, slot } from "../slots.ts";
import { jsonEvent, type SseEvent } from "../sse.ts";
import { choices, withoutLogprobs } from "./openai-chat-parts.ts";
import { openaiErrors } from "./openai-errors.ts";

/** OpenAI's completions of a text (https://platform.openai.com/docs/api-reference/completions). */
export const openaiCompletions: Format = {
  name: "OpenAI completions",
  path: /\/completions$/,
  errors: openaiErrors,
  fields: names(
    "prompt suffix model models provider stream stream_options user metadata stop n seed logit_bias logprobs",
  ),
  request: (body, options) => ({
    texts: [
      { source: "user", slots: slot(body, "suffix") },
      { source: "user", slots: textsAt(body, "prompt", options) },
    ],
  }),
  answer: (body) =>
    choices(body).map((choice) => ({
      texts: slot(choice, "text").map(({ text, set }) => ({
        text,
        set(changed: string) {
          set(changed);
          withoutLogprobs(choice);
        },
      })),
    })),
  stream: (call, request) => new CompletionStream(call, request),
  blocked: {
    body: (text, request, answer) => ({
      id: "cmpl-guard",
      object: "text_completion",
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      ...answer,
      choices: [{ index: 0, text, logprobs: null, finish_reason: "content_filter" }],
    }),
  },
};

/**
 * The texts at a key of a request: one, or a list of them.
 *
 * @throws GuardValidationError for the numbers of tokens, which nobody can read who has not the tokenizer of the model.
 */
export function textsAt(body: Json, key: string, { unguarded }: FormatOptions): TextSlot[] {
  const value = body[key];
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return slot(body, key);
  if (!Array.isArray(value)) throw unreadable(key, "expected a text or a list of texts");
  return value.flatMap((text, index) => {
    if (typeof text === "string") {
      const set = (changed: string) => {
        value[index] = changed;
      };
      return [{ text, set }];
    }
    if (unguarded === "pass") return [];
    const message = 'the numbers of tokens cannot be checked; send a text, or set unguarded to "pass"';
    throw unreadable(`${key}.${index}`, message);
  });
}

/** Guards the chunks of a completion. */
class CompletionStream implements StreamGuard {
  readonly channels: Channels;
  readonly #running = new Set<number>();
  #frame: Json;

  constructor(call: GuardedCall, request: Json) {
    this.channels = new Channels(call);
    const created = Math.floor(Date.now() / 1000);
    this.#frame = { id: "cmpl-guard", object: "text_completion", created, model: request.model };
  }

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    if (event.data.startsWith("[DONE]")) return [...(await this.finish()), event];
    const chunk = parsedObject(event.data);
    const all = choices(chunk);
    if (!Array.isArray(chunk.choices)) return [event];
    const { choices: _, usage: __, ...frame } = chunk;
    this.#frame = frame;
    const events: SseEvent[] = [];
    const kept: Json[] = [];
    for (const choice of all) {
      const index = typeof choice.index === "number" ? choice.index : 0;
      // The tokens would show what is still held.
      if (choice.logprobs) choice.logprobs = null;
      this.#running.add(index);
      const text = typeof choice.text === "string" ? choice.text : "";
      const isLast = choice.finish_reason !== null && choice.finish_reason !== undefined;
      choice.text = await this.channels.push(`${index}/`, text, (text) => this.#chunk(index, text));
      if (isLast) {
        this.#running.delete(index);
        if (choice.text !== "") events.push(this.#chunk(index, choice.text as string));
        choice.text = "";
        events.push(...(await this.channels.end(`${index}/`)));
      }
      if (isLast || choice.text !== "") kept.push(choice);
    }
    const isGone = kept.length === 0 && all.length > 0 && !chunk.usage;
    return isGone ? events : [...events, jsonEvent({ ...chunk, choices: kept }, event)];
  }

  finish(): Promise<readonly SseEvent[]> {
    return this.channels.end();
  }

  replace(text: string): readonly SseEvent[] {
    const ended = [...(this.#running.size > 0 ? this.#running : [0])];
    return [
      ...ended.map((index, place) => this.#chunk(index, place === 0 ? text : "", "content_filter")),
      { data: "[DONE]" },
    ];
  }

  fail(error: WireError): readonly SseEvent[] {
    return [jsonEvent(openaiErrors.body(error)), { data: "[DONE]" }];
  }

  #chunk(index: number, text: string, finish: string | null = null): SseEvent {
    return jsonEvent({ ...this.#frame, choices: [{ index, text, logprobs: null, finish_reason: finish }] });
  }
}
