import type { GuardedCall } from "../../guard/guard.ts";
import { isRecord } from "../../support/is-record.ts";
import { Channels } from "../channels.ts";
import { upstreamError, type WireError } from "../errors.ts";
import type { Json, StreamGuard, TextSlot } from "../format.ts";
import { judgeAnswer } from "../judge.ts";
import { parsedObject, recordAt, recordsAt, slotsIn } from "../slots.ts";
import { jsonEvent, type SseEvent } from "../sse.ts";
import { callsOf, NOT_TEXT, SOURCES, textsBeside } from "./openai-chat-parts.ts";
import { openaiErrors } from "./openai-errors.ts";

const DONE = "[DONE]";

/** The fields of deltas that do not arrive as pieces of a text. */
const HELD: ReadonlySet<string> = new Set([...NOT_TEXT, ...SOURCES]);

/** Guards the chunks of a chat completion. Tool calls are held until their choice has ended. */
export class ChatStream implements StreamGuard {
  readonly channels: Channels;
  readonly #call: GuardedCall;
  /** The tool calls of each choice that has not ended. */
  readonly #held = new Map<number, HeldCalls>();
  /** The choices that have begun and not ended. */
  readonly #running = new Set<number>();
  /** What stood beside the deltas last, and how it was shown. */
  #seen: { given: readonly string[]; shown: readonly string[] } = { given: [], shown: [] };
  /** What stands in every chunk: id, model, and so on. */
  #frame: Json;

  constructor(call: GuardedCall, request: Json) {
    this.#call = call;
    this.channels = new Channels(call);
    const created = Math.floor(Date.now() / 1000);
    this.#frame = { id: "chatcmpl-guard", object: "chat.completion.chunk", created, model: request.model };
  }

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    if (event.data.startsWith(DONE)) return [...(await this.finish()), event];
    const chunk = parsedObject(event.data);
    if (!Array.isArray(chunk.choices)) {
      if (isRecord(chunk.error)) return [event];
      throw upstreamError("A chunk of the answer has no choices.");
    }
    const all: unknown[] = chunk.choices;
    if (!all.every(isRecord)) throw upstreamError("A choice of the answer is no object.");
    await this.#beside(textsBeside(chunk, all));
    const { choices: _, usage: __, ...frame } = chunk;
    this.#frame = frame;
    const before: SseEvent[] = [];
    const kept: Json[] = [];
    for (const choice of all) {
      const { events, isEmpty } = await this.#choice(choice);
      before.push(...events);
      if (!isEmpty) kept.push(choice);
    }
    const isGone = kept.length === 0 && chunk.choices.length > 0 && !chunk.usage;
    return isGone ? before : [...before, jsonEvent({ ...chunk, choices: kept }, event)];
  }

  async finish(): Promise<readonly SseEvent[]> {
    const events = await this.channels.end();
    for (const index of [...this.#held.keys()]) events.push(...(await this.#calls(index)));
    return events;
  }

  replace(text: string): readonly SseEvent[] {
    const ended = [...(this.#running.size > 0 ? this.#running : [0])];
    return [
      ...ended.map((index, place) => {
        const delta = this.#running.size > 0 ? { content: text } : { role: "assistant", content: text };
        return this.#chunk(index, place === 0 ? delta : {});
      }),
      ...ended.map((index) => this.#chunk(index, {}, "content_filter")),
      { data: DONE },
    ];
  }

  fail(error: WireError): readonly SseEvent[] {
    return [jsonEvent(openaiErrors.body(error)), { data: DONE }];
  }

  /** Judges what stands beside the deltas. Some providers repeat it with every chunk, where once is enough. */
  async #beside(slots: readonly TextSlot[]): Promise<void> {
    const texts = slots.map(({ text }) => text);
    if (slots.length > 0 && JSON.stringify(texts) === JSON.stringify(this.#seen.given)) {
      for (const [place, slot] of slots.entries()) slot.set(this.#seen.shown[place] as string);
      return;
    }
    const shown = [...texts];
    const noted = slots.map(({ text, set }, place) => ({
      text,
      set(changed: string) {
        shown[place] = changed;
        set(changed);
      },
    }));
    await judgeAnswer(this.#call, [{ texts: noted, separator: "\n" }]);
    if (slots.length > 0) this.#seen = { given: texts, shown };
  }

  /** Puts what may be shown into a choice of a chunk, and returns the events that come before that chunk. */
  async #choice(choice: Json): Promise<{ events: SseEvent[]; isEmpty: boolean }> {
    const index = typeof choice.index === "number" ? choice.index : 0;
    // Some providers repeat the whole message so far.
    delete choice.message;
    // The tokens would show what is still held.
    if (choice.logprobs) choice.logprobs = null;
    const isLast = choice.finish_reason !== null && choice.finish_reason !== undefined;
    const delta = recordAt(choice, "delta");
    const events: SseEvent[] = [];
    this.#running.add(index);
    // A choice of which everything is held says nothing yet.
    let isEmpty = !isLast && delta !== undefined && delta.role === undefined && delta.audio === undefined;
    if (delta) {
      const holds = this.#hold(index, delta);
      const slots = slotsIn(delta, HELD);
      for (const { keys, text, set } of slots) {
        const make = (text: string) => this.#chunk(index, along(delta, keys, text) as Json);
        const released = await this.channels.push(`${index}/${placeOf(delta, keys)}/`, text, make);
        if (isLast && released !== "") events.push(make(released));
        set(isLast ? "" : released);
        if (released !== "") isEmpty = false;
      }
      const sources = [...SOURCES].filter((key) => delta[key] !== undefined);
      for (const key of sources) await judgeAnswer(this.#call, [{ texts: slotsIn(delta[key]), separator: "\n" }]);
      if (sources.length > 0 || (!holds && slots.length === 0) || hasMore(delta)) isEmpty = false;
    }
    if (isLast) {
      this.#running.delete(index);
      events.push(...(await this.channels.end(`${index}/`)), ...(await this.#calls(index)));
    }
    return { events, isEmpty };
  }

  /** Takes the pieces of tool calls out of a delta. */
  #hold(index: number, delta: Json): boolean {
    const pieces = recordsAt(delta, "tool_calls");
    const legacy = recordAt(delta, "function_call");
    if (delta.tool_calls !== undefined) delete delta.tool_calls;
    if (delta.function_call !== undefined) delete delta.function_call;
    if (pieces.length === 0 && !legacy) return false;
    const held = this.#held.get(index) ?? new HeldCalls();
    this.#held.set(index, held);
    for (const piece of pieces) held.add(piece);
    if (legacy) held.addLegacy(legacy);
    return true;
  }

  /** Judges the tool calls of a choice that has ended. */
  async #calls(index: number): Promise<SseEvent[]> {
    const held = this.#held.get(index);
    if (!held) return [];
    this.#held.delete(index);
    const { delta } = held;
    await judgeAnswer(this.#call, [{ texts: [], calls: callsOf(delta) }]);
    return [this.#chunk(index, delta)];
  }

  #chunk(index: number, delta: Json, finish: string | null = null): SseEvent {
    return jsonEvent({ ...this.#frame, choices: [{ index, delta, logprobs: null, finish_reason: finish }] });
  }
}

/** The tool calls of a choice, put together from their pieces. */
class HeldCalls {
  readonly #calls = new Map<unknown, Json>();
  #legacy: Json | undefined;

  /** The calls as a delta. */
  get delta(): Json {
    return {
      ...(this.#calls.size > 0 && { tool_calls: [...this.#calls.values()] }),
      ...(this.#legacy && { function_call: this.#legacy }),
    };
  }

  add(piece: Json): void {
    // Without an index, a call arrives whole.
    const key = piece.index ?? piece.id ?? this.#calls.size;
    const call = this.#calls.get(key);
    if (call) addPiece(call, piece);
    else this.#calls.set(key, piece);
  }

  addLegacy(piece: Json): void {
    if (this.#legacy) addPiece(this.#legacy, piece);
    else this.#legacy = piece;
  }
}

/** Adds a piece to what has arrived: arguments go on, and everything else is said once. */
function addPiece(whole: Json, piece: Json): void {
  for (const [key, value] of Object.entries(piece)) {
    // It would lead to what all objects inherit, and no call has such a field.
    if (key === "__proto__") continue;
    const known = whole[key];
    if (isRecord(known) && isRecord(value)) addPiece(known, value);
    else if ((key === "arguments" || key === "input") && typeof known === "string" && typeof value === "string") {
      whole[key] = known + value;
    } else if (known === undefined || known === null || known === "") whole[key] = value;
  }
}

/** The fields of items of a delta that say what the item is. */
const OF_ITEM = ["type", "index", "id", "format"];

/** Whether a value still has a string when its texts are held, such as an image or what is encrypted. */
function hasMore(value: unknown): boolean {
  if (typeof value === "string") return value !== "";
  if (Array.isArray(value)) return value.some(hasMore);
  return isRecord(value) && Object.entries(value).some(([key, item]) => !OF_ITEM.includes(key) && hasMore(item));
}

/** Names the place of a text in a delta. Items of lists are told apart by their index or type, since each delta has only some. */
function placeOf(delta: Json, keys: readonly (string | number)[]): string {
  const names: unknown[] = [];
  let value: unknown = delta;
  for (const key of keys) {
    value = (value as Record<string | number, unknown>)[key];
    names.push(typeof key === "number" && isRecord(value) ? (value.index ?? value.type ?? key) : key);
  }
  return names.join("/");
}

/** A value that has nothing but the text at the end of `keys`, and the types and ids on the way. */
function along(value: unknown, keys: readonly (string | number)[], text: string): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return text;
  const inner = along((value as Record<string | number, unknown>)[key], rest, text);
  if (Array.isArray(value)) return [inner];
  const kept = Object.entries(value as Json).filter(([name]) => OF_ITEM.includes(name));
  return { ...Object.fromEntries(kept), [key]: inner };
}
