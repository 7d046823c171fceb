import { invalidRequest, type ReplyError } from "../errors.ts";
import { checkAnswer } from "../exchange-check.ts";
import type { Format, FormatOptions, Json, TextSlot } from "../format.ts";
import { findSlots, parseNames, parseObject, slotAt, textAt, watchSlot } from "../slots.ts";
import { isDone, jsonEvent, type SseEvent } from "../sse.ts";
import { StreamGuard } from "../stream-guard.ts";
import { clearLogprobs, findExtraTexts, readChoices, readChunkChoices } from "./openai-chat-parts.ts";
import { openaiErrors } from "./openai-errors.ts";

/** The fields of a choice with a reader. */
const CHOICE_FIELDS = parseNames("text logprobs finish_reason");

/** OpenAI's text completions: https://platform.openai.com/docs/api-reference/completions. */
export const openaiCompletions: Format = {
  name: "OpenAI completions",
  path: /\/completions$/,
  errors: openaiErrors,
  fields: parseNames("prompt suffix"),
  readRequest: (body, options) => ({
    texts: [
      { source: "user", slots: textAt(body, "suffix") },
      { source: "user", slots: readTexts(body, "prompt", options) },
    ],
  }),
  readAnswer(body) {
    const choices = readChoices(body);
    const texts = choices.map((choice) => {
      const slots = typeof choice.text === "string" ? slotAt(choice, "text") : findSlots(choice.text);
      return { texts: slots.map((slot) => watchSlot(slot, () => clearLogprobs(choice))) };
    });
    return [...texts, { texts: findExtraTexts(body, choices, CHOICE_FIELDS), separator: "\n" }];
  },
  guardStream: (call, request) => new CompletionStream(call, request),
  blockedReply: {
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
 * Reads the text or the list of texts at a key of a request.
 *
 * @throws GuardValidationError for token ids, which cannot be read without the tokenizer of the model.
 */
export function readTexts(body: Json, key: string, { unguarded }: FormatOptions): TextSlot[] {
  const value = body[key];
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return slotAt(body, key);
  if (!Array.isArray(value)) throw invalidRequest(key, "expected a text or a list of texts");
  return value.flatMap((text, index) => {
    if (typeof text === "string") {
      const set = (changed: string) => {
        value[index] = changed;
      };
      return [{ text, set }];
    }
    if (unguarded === "pass") return [];
    const message = "token ids cannot be checked; send a text, or let this path pass unchecked";
    throw invalidRequest(`${key}.${index}`, message);
  });
}

/** Guards the chunks of a completion. */
class CompletionStream extends StreamGuard {
  readonly #running = new Set<number>();
  #frame: Json = {
    id: "cmpl-guard",
    object: "text_completion",
    created: Math.floor(Date.now() / 1000),
    model: this.request.model,
  };

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    if (isDone(event.data)) return [...(await this.finish()), event];
    const chunk = parseObject(event.data);
    const all = readChunkChoices(chunk);
    if (all === "error") return [...(await this.finish()), event];
    await checkAnswer(this.call, [{ texts: findExtraTexts(chunk, all, CHOICE_FIELDS), separator: "\n" }]);
    if (!Array.isArray(chunk.choices)) return [jsonEvent(chunk, event)];
    const { choices: _, usage: __, ...frame } = chunk;
    this.#frame = frame;
    this.setKept("chunk", event.data.length);
    const events: SseEvent[] = [];
    const kept: Json[] = [];
    for (const choice of all) {
      const index = typeof choice.index === "number" ? choice.index : 0;
      // The token probabilities would reveal text that is held back.
      clearLogprobs(choice);
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
      ...ended.map((index, position) => this.#chunk(index, position === 0 ? text : "", "content_filter")),
      { data: "[DONE]" },
    ];
  }

  fail(error: ReplyError): readonly SseEvent[] {
    return [jsonEvent(openaiErrors.body(error)), { data: "[DONE]" }];
  }

  #chunk(index: number, text: string, finish: string | null = null): SseEvent {
    return jsonEvent({ ...this.#frame, choices: [{ index, text, logprobs: null, finish_reason: finish }] });
  }
}
