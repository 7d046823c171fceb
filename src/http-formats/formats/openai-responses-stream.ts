import type { GuardedCall } from "../../guard/guard.ts";
import { isRecord } from "../../support/is-record.ts";
import { Channels } from "../channels.ts";
import type { WireError } from "../errors.ts";
import type { Json, StreamGuard } from "../format.ts";
import { judgeAnswer } from "../judge.ts";
import { parsedObject, recordAt, recordsAt, slotsIn } from "../slots.ts";
import { jsonEvent, type SseEvent } from "../sse.ts";
import { openaiErrors } from "./openai-errors.ts";
import {
  type Held,
  keyOf,
  messageItem,
  named,
  outputText,
  putText,
  released,
  responseLike,
  WHOLE,
} from "./openai-responses-events.ts";
import { besidePart, isHeldCall, partsOfItems, partsOfResponse } from "./openai-responses-parts.ts";

/** Events that bear the whole response. */
const BEGINS = new Set(["response.created", "response.queued", "response.in_progress"]);
const ENDS = new Set(["response.completed", "response.incomplete", "response.failed", "response.cancelled"]);

/** The bytes of sounds and images. */
const BYTES: ReadonlySet<string> = new Set(["partial_image_b64", "b64_json", "usage"]);

/**
 * Guards the events of OpenAI's Responses API, and of its other streams whose events are called `*.delta` and `*.done`. Tool calls are
 * held until their item has ended.
 */
export class ResponseEvents implements StreamGuard {
  readonly channels: Channels;
  readonly #call: GuardedCall;
  readonly #request: Json;
  /** The texts that were shown, by their channels. */
  readonly #shown = new Map<string, string>();
  readonly #held = new Map<number, Held>();
  /** The items that have ended, as they were shown, by their places. */
  readonly #items = new Map<number, Json>();
  /** The events that begin items and parts which have not ended. */
  readonly #open = new Map<string, Json>();
  #response: Json | undefined;
  #lastNumber = -1;

  constructor(call: GuardedCall, request: Json) {
    this.#call = call;
    this.#request = request;
    this.channels = new Channels(call);
  }

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    if (event.data.startsWith("[DONE]")) return [...(await this.finish()), event];
    return this.#numbered(await this.#taken(event, parsedObject(event.data)));
  }

  async finish(): Promise<readonly SseEvent[]> {
    return this.#numbered(await this.channels.end());
  }

  replace(text: string): readonly SseEvent[] {
    const events: Json[] = [];
    if (!this.#response) {
      this.#response = responseLike(this.#request);
      events.push({ type: "response.created", response: { ...this.#response, status: "in_progress", output: [] } });
    }
    for (const [key, data] of [...this.#open].reverse()) events.push(this.#closing(key, data));
    const output_index = this.#items.size;
    const item = messageItem(text);
    const [part] = item.content;
    const at = { item_id: item.id, output_index, content_index: 0 };
    const ended = {
      ...responseLike(this.#request, this.#response),
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
      output: [...this.#items.values(), item],
    };
    events.push(
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
      { type: "response.output_text.delta", ...at, delta: text, logprobs: [] },
      { type: "response.output_text.done", ...at, text, logprobs: [] },
      { type: "response.content_part.done", ...at, part },
      { type: "response.output_item.done", output_index, item },
      { type: "response.incomplete", response: ended },
    );
    return this.#numbered(events.map((data) => named({ sequence_number: 0, ...data })));
  }

  fail(error: WireError): readonly SseEvent[] {
    const { code, message } = error;
    // OpenAI documents the fields beside each other, and its server also sends them as an object.
    const data = { type: "error", code, message, param: null, ...openaiErrors.body(error), sequence_number: 0 };
    return this.#numbered([named(data)]);
  }

  async #taken(event: SseEvent, data: Json): Promise<readonly SseEvent[]> {
    const type = typeof data.type === "string" ? data.type : "";
    const index = typeof data.output_index === "number" ? data.output_index : -1;
    const held = this.#held.get(index);
    if (type === "response.output_item.added") return this.#begin(event, data, index);
    if (type === "response.output_item.done") return this.#end(event, data, index);
    if (held) {
      held.push({ event, data });
      return [];
    }
    if (BEGINS.has(type) || ENDS.has(type)) return this.#whole(type, event, data);
    if (type === "error") return [event];
    const key = keyOf(data, type);
    if (type.endsWith(".delta") && typeof data.delta === "string") return this.#delta(key, event, data, type);
    if (type.endsWith("part.added")) this.#open.set(key, data);
    const part = recordAt(data, "part");
    const whole = [data, ...(part ? [part] : [])];
    if (type.endsWith(".done")) {
      const events = await this.channels.end(key);
      if (type.endsWith("part.done")) this.#open.delete(key);
      const shown = this.#shown.get(key);
      if (data.logprobs !== undefined) data.logprobs = [];
      if (shown !== undefined) {
        for (const holder of whole) putText(holder, shown);
        if (part) await this.#judgeBeside([part]);
      } else await this.#judgeWhole(key, data, whole);
      return [...events, jsonEvent(data, event)];
    }
    await this.#judge(data);
    return [jsonEvent(data, event)];
  }

  /** Judges all strings of an event that is of no known kind, or comes without pieces before it. */
  #judge(data: Json): Promise<void> {
    return judgeAnswer(this.#call, [{ texts: slotsIn(data, BYTES), separator: "\n" }]);
  }

  /** Judges what stands beside texts that were shown already. Events have told it, but these are the words of upstream once more. */
  #judgeBeside(parts: readonly Json[]): Promise<void> {
    return judgeAnswer(this.#call, parts.map(besidePart));
  }

  /** Judges a text that came without pieces before it. */
  async #judgeWhole(key: string, data: Json, holders: readonly Json[]): Promise<void> {
    await this.#judge(data);
    const texts = holders.flatMap((holder) => WHOLE.map((name) => holder[name]));
    const text = texts.find((text) => typeof text === "string");
    if (text !== undefined) this.#shown.set(key, text);
  }

  async #delta(key: string, event: SseEvent, data: Json, type: string): Promise<readonly SseEvent[]> {
    if (/audio\.delta$/.test(type)) return [event];
    // The tokens would show what is still held.
    const frame = { ...data, ...(data.logprobs !== undefined && { logprobs: [] }) };
    const make = (delta: string) => {
      this.#shown.set(key, (this.#shown.get(key) ?? "") + delta);
      return jsonEvent({ ...frame, delta }, event);
    };
    const released = await this.channels.push(key, data.delta as string, make);
    if (!this.#shown.has(key)) this.#shown.set(key, "");
    return released === "" ? [] : [make(released)];
  }

  async #begin(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const item = recordAt(data, "item") ?? {};
    if (isHeldCall(item)) {
      this.#held.set(index, [{ event, data }]);
      return [];
    }
    await judgeAnswer(this.#call, partsOfItems([item]));
    this.#open.set(`${index}/`, data);
    return [jsonEvent(data, event)];
  }

  /** Ends an item: puts the texts that were shown into it, or judges it, where nothing of it was. */
  async #end(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const item = recordAt(data, "item") ?? {};
    const events = await this.channels.end(`${index}/`);
    const wasShown = [...this.#shown.keys()].some((key) => key.startsWith(`${index}/`));
    if (wasShown) {
      this.#fill(item, index);
      await this.#judgeBeside(recordsAt(item, "content"));
    } else await judgeAnswer(this.#call, partsOfItems([item]));
    const held = this.#held.get(index);
    this.#held.delete(index);
    this.#open.delete(`${index}/`);
    this.#items.set(index, item);
    return [...events, ...(held ? released(held, item) : []), jsonEvent(data, event)];
  }

  /** Puts the texts that were shown into an item that has ended. */
  #fill(item: Json, index: number): void {
    for (const list of ["content", "summary"]) {
      for (const [place, part] of recordsAt(item, list).entries()) {
        const key = `${index}/${list}/${place}/`;
        putText(part, this.#shown.get(key) ?? "");
        this.#shown.delete(key);
      }
    }
  }

  async #whole(type: string, event: SseEvent, data: Json): Promise<readonly SseEvent[]> {
    const response = recordAt(data, "response");
    if (!response) return [event];
    this.#response = response;
    const events = ENDS.has(type) ? await this.channels.end() : [];
    if (Array.isArray(response.output)) {
      const known = new Map([...this.#items.values()].map((item) => [item.id, item]));
      response.output = response.output.map((item, index) => {
        const shown = this.#items.get(index);
        const isSame = shown && (!isRecord(item) || item.id === undefined || item.id === shown.id);
        return isSame ? shown : (isRecord(item) && item.id !== undefined && known.get(item.id)) || item;
      });
      const shown = new Set(this.#items.values());
      const others = (response.output as Json[]).filter((item) => !shown.has(item));
      await judgeAnswer(this.#call, partsOfResponse({ output: others }));
    }
    if (typeof response.output_text === "string") response.output_text = outputText(response);
    return [...events, jsonEvent(data, event)];
  }

  /** The event that ends a part or an item which is still open, as far as it was shown. */
  #closing(key: string, data: Json): Json {
    const { output_index, item_id, content_index, summary_index } = data;
    const part = recordAt(data, "part");
    if (part) {
      putText(part, this.#shown.get(key) ?? "");
      const at = { item_id, output_index, ...(content_index === undefined ? { summary_index } : { content_index }) };
      return { type: String(data.type).replace(/added$/, "done"), ...at, part };
    }
    const item: Json = { ...recordAt(data, "item"), status: "incomplete" };
    if (item.type === "message") {
      const texts = [...this.#shown].filter(([name]) => name.startsWith(`${key}content/`));
      item.content = texts.map(([, text]) => ({ type: "output_text", text, annotations: [] }));
    }
    this.#items.set(output_index as number, item);
    return { type: "response.output_item.done", output_index, item };
  }

  /** Keeps the numbers of events rising, although some are left out and others are new. */
  #numbered(events: readonly SseEvent[]): SseEvent[] {
    return events.map((event) => {
      if (event.data === undefined) return event;
      const data = parsedObject(event.data);
      if (typeof data.sequence_number !== "number") return event;
      this.#lastNumber = Math.max(this.#lastNumber + 1, data.sequence_number);
      return { ...event, data: JSON.stringify({ ...data, sequence_number: this.#lastNumber }) };
    });
  }
}
