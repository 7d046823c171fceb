import { isRecord } from "../../support/is-record.ts";
import type { ReplyError } from "../errors.ts";
import { checkAnswer } from "../exchange-check.ts";
import type { Json, TextSlot } from "../format.ts";
import { findSlots, getRecord, parseObject, watchSlot } from "../slots.ts";
import { isDone, jsonEvent, type SseEvent } from "../sse.ts";
import { StreamGuard } from "../stream-guard.ts";
import {
  CALL_FIELDS,
  CITATION_FIELDS,
  clearLogprobs,
  findExtraTexts,
  readCalls,
  readChunkChoices,
  recordsOf,
} from "./openai-chat-parts.ts";
import { openaiErrors } from "./openai-errors.ts";

const DONE = "[DONE]";

/** Fields of deltas that are not pieces of a text. */
const HELD_FIELDS: ReadonlySet<string> = new Set([...CALL_FIELDS, ...CITATION_FIELDS]);

/** Guards the chunks of a chat completion. Tool calls are held back until their choice ends. */
export class ChatStream extends StreamGuard {
  /** The tool calls of each running choice. */
  readonly #held = new Map<number, CallAssembler>();
  /** The choices that have started and not ended. */
  readonly #running = new Set<number>();
  /** The choices whose content has begun. */
  readonly #begun = new Set<number>();
  /** The latest texts beside the deltas, and the texts that were forwarded instead. */
  #extras: { given: readonly string[]; shown: readonly string[] } = { given: [], shown: [] };
  /** The fields of every chunk, such as id and model. */
  #frame: Json = {
    id: "chatcmpl-guard",
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model: this.request.model,
  };

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    if (isDone(event.data)) return [...(await this.finish()), event];
    const chunk = parseObject(event.data);
    const all = readChunkChoices(chunk);
    // Clients stop at an error, so the text that is held back precedes it.
    if (all === "error") return [...(await this.channels.end()), event];
    await this.#checkExtras(findExtraTexts(chunk, all));
    if (!Array.isArray(chunk.choices)) return [jsonEvent(chunk, event)];
    const { choices: _, usage: __, ...frame } = chunk;
    this.#frame = frame;
    this.setKept("chunk", event.data.length);
    const before: SseEvent[] = [];
    const kept: Json[] = [];
    for (const choice of all) {
      const { events, isEmpty } = await this.#guardChoice(choice);
      before.push(...events);
      if (!isEmpty) kept.push(choice);
    }
    const isGone = kept.length === 0 && all.length > 0 && !chunk.usage;
    return isGone ? before : [...before, jsonEvent({ ...chunk, choices: kept }, event)];
  }

  async finish(): Promise<readonly SseEvent[]> {
    const events = await this.channels.end();
    for (const index of [...this.#held.keys()]) events.push(...(await this.#releaseCalls(index)));
    return events;
  }

  replace(text: string): readonly SseEvent[] {
    const ended = [...(this.#running.size > 0 ? this.#running : [0])];
    return [
      ...ended.map((index, position) => {
        const delta = this.#running.size > 0 ? { content: text } : { role: "assistant", content: text };
        return this.#chunk(index, position === 0 ? delta : {});
      }),
      ...ended.map((index) => this.#chunk(index, {}, "content_filter")),
      { data: DONE },
    ];
  }

  fail(error: ReplyError): readonly SseEvent[] {
    return [jsonEvent(openaiErrors.body(error)), { data: DONE }];
  }

  /** Checks the texts beside the deltas. Some providers repeat them in every chunk, but they are checked once. */
  async #checkExtras(slots: readonly TextSlot[]): Promise<void> {
    const texts = slots.map(({ text }) => text);
    if (slots.length > 0 && JSON.stringify(texts) === JSON.stringify(this.#extras.given)) {
      for (const [position, slot] of slots.entries()) slot.set(this.#extras.shown[position] as string);
      return;
    }
    const shown = [...texts];
    const recorded = slots.map((slot, position) =>
      watchSlot(slot, (changed) => {
        shown[position] = changed;
      }),
    );
    await checkAnswer(this.call, [{ texts: recorded, separator: "\n" }]);
    if (slots.length === 0) return;
    this.#extras = { given: texts, shown };
    this.setKept("extras", lengthOf(texts) + lengthOf(shown));
  }

  /** Replaces the texts of a choice by those that may be shown, and returns the events that precede its chunk. */
  async #guardChoice(choice: Json): Promise<{ events: SseEvent[]; isEmpty: boolean }> {
    const index = typeof choice.index === "number" ? choice.index : 0;
    // Some providers repeat the whole message in every chunk.
    delete choice.message;
    // The token probabilities would reveal text that is held back.
    clearLogprobs(choice);
    const isLast = choice.finish_reason !== null && choice.finish_reason !== undefined;
    const delta = getRecord(choice, "delta");
    const events: SseEvent[] = [];
    this.#running.add(index);
    // A choice whose text is held back is not forwarded yet.
    let isEmpty = !isLast && delta !== undefined && delta.role === undefined && delta.audio === undefined;
    if (delta) {
      const holds = this.#hold(index, delta);
      const slots = findSlots(delta, undefined, HELD_FIELDS);
      const names = slots.map(({ keys }) => `${index}/${channelPath(delta, keys)}/`);
      if (slots.some(({ keys: [field], text }) => field === "content" && text !== "")) {
        events.push(...(await this.#endReasoning(index, names)));
      }
      for (const [position, { keys, text, set }] of slots.entries()) {
        const createChunk = (text: string) => this.#chunk(index, keepPath(delta, keys, text) as Json);
        const released = await this.channels.push(names[position] as string, text, createChunk);
        if (isLast && released !== "") events.push(createChunk(released));
        set(isLast ? "" : released);
        if (released !== "") isEmpty = false;
      }
      const sources = [...CITATION_FIELDS].filter((key) => delta[key] !== undefined);
      for (const key of sources) await checkAnswer(this.call, [{ texts: findSlots(delta[key]), separator: "\n" }]);
      if (sources.length > 0 || (!holds && slots.length === 0) || hasMore(delta)) isEmpty = false;
    }
    if (isLast) {
      this.#running.delete(index);
      events.push(...(await this.channels.end(`${index}/`)), ...(await this.#releaseCalls(index)));
    }
    return { events, isEmpty };
  }

  /**
   * Ends the texts that precede the content of a choice, when the content begins: clients show the reasoning first. Only once, because a text
   * that goes on later would be scanned in parts.
   *
   * @param continued the texts that the same delta continues.
   */
  async #endReasoning(index: number, continued: readonly string[]): Promise<SseEvent[]> {
    if (this.#begun.has(index)) return [];
    this.#begun.add(index);
    const events: SseEvent[] = [];
    for (const name of this.channels.keys(`${index}/`)) {
      if (!continued.includes(name)) events.push(...(await this.channels.end(name)));
    }
    return events;
  }

  /** Moves the pieces of tool calls from a delta to the assembler, and returns whether there were any. */
  #hold(index: number, delta: Json): boolean {
    const pieces = recordsOf(delta.tool_calls, "The tool calls of the answer are not a list.");
    const [legacy] = recordsOf(delta.function_call && [delta.function_call], "A function call is not an object.");
    if (delta.tool_calls !== undefined) delete delta.tool_calls;
    if (delta.function_call !== undefined) delete delta.function_call;
    if (pieces.length === 0 && !legacy) return false;
    const held = this.#held.get(index) ?? new CallAssembler();
    this.#held.set(index, held);
    let chars = 0;
    for (const piece of pieces) chars += held.add(piece);
    if (legacy) chars += held.addLegacy(legacy);
    this.addKept(`calls/${index}`, chars);
    return true;
  }

  /** Checks the tool calls of a choice that has ended, and returns their chunk. */
  async #releaseCalls(index: number): Promise<SseEvent[]> {
    const held = this.#held.get(index);
    if (!held) return [];
    this.#held.delete(index);
    this.setKept(`calls/${index}`, 0);
    const { delta } = held;
    const { calls, others } = readCalls(delta);
    await checkAnswer(this.call, [
      { texts: [], calls },
      { texts: others, separator: "\n" },
    ]);
    return [this.#chunk(index, delta)];
  }

  #chunk(index: number, delta: Json, finish: string | null = null): SseEvent {
    return jsonEvent({ ...this.#frame, choices: [{ index, delta, logprobs: null, finish_reason: finish }] });
  }
}

/** Assembles the tool calls of a choice from their pieces. */
class CallAssembler {
  readonly #calls: Json[] = [];
  /** The latest call with an index or an id. */
  readonly #latest = new Map<unknown, Json>();
  #legacy: Json | undefined;

  /** The assembled calls as a delta. */
  get delta(): Json {
    return {
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
      ...(this.#legacy && { function_call: this.#legacy }),
    };
  }

  /** Adds a piece of a call, and returns how many characters the calls have grown. */
  add(piece: Json): number {
    // A call without an index is complete.
    const key = piece.index ?? piece.id ?? this.#calls.length;
    const call = this.#latest.get(key);
    // Some servers give all calls the index 0, and each an id of its own.
    if (call && (!piece.id || !call.id || piece.id === call.id)) return mergePiece(call, piece);
    if (call) piece.index = this.#calls.length;
    this.#calls.push(piece);
    this.#latest.set(key, piece);
    return sizeOf(piece);
  }

  addLegacy(piece: Json): number {
    if (this.#legacy) return mergePiece(this.#legacy, piece);
    this.#legacy = piece;
    return sizeOf(piece);
  }
}

/**
 * Merges a piece into a call: arguments are appended, and other fields are set once.
 *
 * @returns how many characters the call has grown.
 */
function mergePiece(whole: Json, piece: Json): number {
  let chars = 0;
  for (const [key, value] of Object.entries(piece)) {
    // The key would change the prototype, and no call has such a field.
    if (key === "__proto__") continue;
    const known = whole[key];
    if (isRecord(known) && isRecord(value)) chars += mergePiece(known, value);
    else if ((key === "arguments" || key === "input") && typeof known === "string" && typeof value === "string") {
      whole[key] = known + value;
      chars += value.length;
    } else if (known === undefined || known === null || known === "") {
      whole[key] = value;
      chars += key.length + sizeOf(value);
    }
  }
  return chars;
}

/** The length of a value as JSON. */
function sizeOf(value: unknown): number {
  return typeof value === "string" ? value.length : (JSON.stringify(value)?.length ?? 0);
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Fields that identify an item of a delta. */
const ITEM_FIELDS = ["type", "index", "id", "format"];

/** Whether a value has strings that are not held back, such as an image or an encrypted value. */
function hasMore(value: unknown): boolean {
  if (typeof value === "string") return value !== "";
  if (Array.isArray(value)) return value.some(hasMore);
  return isRecord(value) && Object.entries(value).some(([key, item]) => !ITEM_FIELDS.includes(key) && hasMore(item));
}

/** Names the channel of a text in a delta. List items are identified by their index or type, because a delta has only some items. */
function channelPath(delta: Json, keys: readonly (string | number)[]): string {
  const names: unknown[] = [];
  let value: unknown = delta;
  for (const key of keys) {
    value = (value as Record<string | number, unknown>)[key];
    names.push(typeof key === "number" && isRecord(value) ? (value.index ?? value.type ?? key) : key);
  }
  return names.join("/");
}

/** Returns a copy of a value with nothing but the text at the end of `keys`, and the types and ids on its path. */
function keepPath(value: unknown, keys: readonly (string | number)[], text: string): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return text;
  const inner = keepPath((value as Record<string | number, unknown>)[key], rest, text);
  if (Array.isArray(value)) return [inner];
  const kept = Object.entries(value as Json).filter(([name]) => ITEM_FIELDS.includes(name));
  return { ...Object.fromEntries(kept), [key]: inner };
}
