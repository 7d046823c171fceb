import { isRecord } from "../../support/is-record.ts";
import type { ReplyError } from "../errors.ts";
import { checkAnswer } from "../exchange-check.ts";
import type { Json } from "../format.ts";
import { findSlots, findUnknownTexts, getRecord, getRecords, parseNames, parseObject } from "../slots.ts";
import { isDone, jsonEvent, namedEvent, type SseEvent } from "../sse.ts";
import { StreamGuard } from "../stream-guard.ts";
import { openaiErrors } from "./openai-errors.ts";
import {
  channelKey,
  createMessageItem,
  createResponse,
  type HeldEvents,
  joinOutputText,
  releaseCall,
  setTexts,
  TEXT_FIELDS,
} from "./openai-responses-events.ts";
import {
  BYTES,
  isHeldCall,
  readHeldExtras,
  readItemParts,
  readPartExtras,
  readResponseExtras,
  readResponseParts,
} from "./openai-responses-parts.ts";

/** Events with the whole response. */
const START_EVENTS = new Set(["response.created", "response.queued", "response.in_progress"]);
const END_EVENTS = new Set(["response.completed", "response.incomplete", "response.failed", "response.cancelled"]);

/** Fields of the events with pieces of a text. */
const DELTA_FIELDS = parseNames("type delta logprobs obfuscation item_id");

const BASE64 = /^[\w+/=-]*$/;

/** Fields of events with bytes and numbers. */
const WORDLESS_FIELDS: ReadonlySet<string> = new Set([...BYTES, "usage"]);

/**
 * Guards a stream of OpenAI's Responses API, and its other streams with events named `*.delta` and `*.done`. Tool calls are held back
 * until their item ends.
 */
export class ResponseStream extends StreamGuard {
  /** The forwarded texts, by their channels. */
  readonly #shown = new Map<string, string>();
  readonly #held = new Map<number, HeldEvents>();
  /** The ended items as they were forwarded, by their indexes. */
  readonly #items = new Map<number, Json>();
  /** The start events of items and parts that have not ended. */
  readonly #open = new Map<string, Json>();
  #response: Json | undefined;
  #lastNumber = -1;

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    if (isDone(event.data)) return [...(await this.finish()), event];
    return this.#renumber(await this.#handle(event, parseObject(event.data)));
  }

  async finish(): Promise<readonly SseEvent[]> {
    return this.#renumber(await this.channels.end());
  }

  replace(text: string): readonly SseEvent[] {
    const events: Json[] = [];
    if (!this.#response) {
      this.#response = createResponse(this.request);
      events.push({ type: "response.created", response: { ...this.#response, status: "in_progress", output: [] } });
    }
    for (const [key, data] of [...this.#open].reverse()) events.push(this.#createClosingEvent(key, data));
    const output_index = this.#items.size;
    const item = createMessageItem(text);
    const [part] = item.content;
    const location = { item_id: item.id, output_index, content_index: 0 };
    const ended = {
      ...createResponse(this.request, this.#response),
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
      output: [...this.#items.values(), item],
    };
    events.push(
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...location, part: { ...part, text: "" } },
      { type: "response.output_text.delta", ...location, delta: text, logprobs: [] },
      { type: "response.output_text.done", ...location, text, logprobs: [] },
      { type: "response.content_part.done", ...location, part },
      { type: "response.output_item.done", output_index, item },
      { type: "response.incomplete", response: ended },
    );
    return this.#renumber(events.map((data) => namedEvent({ sequence_number: 0, ...data })));
  }

  fail(error: ReplyError): readonly SseEvent[] {
    const { code, message } = error;
    // OpenAI documents the fields at the top level, but its server also sends them in an object.
    const data = { type: "error", code, message, param: null, ...openaiErrors.body(error), sequence_number: 0 };
    return this.#renumber([namedEvent(data)]);
  }

  async #handle(event: SseEvent, data: Json): Promise<readonly SseEvent[]> {
    const type = typeof data.type === "string" ? data.type : "";
    const index = typeof data.output_index === "number" ? data.output_index : -1;
    const held = this.#held.get(index);
    if (type === "response.output_item.added") return this.#begin(event, data, index);
    if (type === "response.output_item.done") return this.#end(event, data, index);
    if (held) {
      // Texts at the index of a call are none of its arguments.
      await checkAnswer(this.call, readHeldExtras(type, data));
      held.push({ event, data });
      this.addKept(`call/${index}`, event.data?.length ?? 0);
      return [];
    }
    if (START_EVENTS.has(type) || END_EVENTS.has(type)) return this.#handleResponse(type, event, data);
    if (type === "error") return [...(await this.channels.end()), event];
    const key = channelKey(data, type);
    if (type.endsWith(".delta") && typeof data.delta === "string") return this.#delta(key, event, data, type);
    if (type.endsWith("part.added")) {
      this.#open.set(key, data);
      this.setKept(`open/${key}`, event.data?.length ?? 0);
    }
    const part = getRecord(data, "part");
    const whole = [data, ...(part ? [part] : [])];
    if (type.endsWith(".done")) {
      const events = await this.channels.end(key);
      if (type.endsWith("part.done")) {
        this.#open.delete(key);
        this.setKept(`open/${key}`, 0);
      }
      const shown = this.#shown.get(key);
      if (data.logprobs !== undefined) data.logprobs = [];
      if (shown !== undefined) {
        for (const holder of whole) setTexts(holder, shown);
        if (part) await this.#checkExtras([part]);
      } else await this.#checkWhole(key, data, whole);
      return [...events, jsonEvent(data, event)];
    }
    await this.#checkStrings(data);
    return [jsonEvent(data, event)];
  }

  /** Checks all strings of an unknown event, or of one without preceding pieces. */
  #checkStrings(data: Json): Promise<void> {
    return checkAnswer(this.call, [{ texts: findSlots(data, WORDLESS_FIELDS), separator: "\n" }]);
  }

  /** Checks the citations beside forwarded texts. Earlier events had them, but upstream may send others now. */
  #checkExtras(parts: readonly Json[]): Promise<void> {
    return checkAnswer(this.call, parts.flatMap(readPartExtras));
  }

  /** Checks a complete text without preceding pieces. */
  async #checkWhole(key: string, data: Json, holders: readonly Json[]): Promise<void> {
    await this.#checkStrings(data);
    const texts = holders.flatMap((holder) => TEXT_FIELDS.map((name) => holder[name]));
    const text = texts.find((text) => typeof text === "string");
    if (text !== undefined) this.#show(key, text);
  }

  async #delta(key: string, event: SseEvent, data: Json, type: string): Promise<readonly SseEvent[]> {
    if (/audio\.delta$/.test(type) && BASE64.test(data.delta as string)) return [event];
    await checkAnswer(this.call, [{ texts: findUnknownTexts(data, DELTA_FIELDS), separator: "\n" }]);
    // The token probabilities would reveal text that is held back.
    const frame = { ...data, ...(data.logprobs !== undefined && { logprobs: [] }) };
    const createEvent = (delta: string) => {
      this.#show(key, (this.#shown.get(key) ?? "") + delta);
      return jsonEvent({ ...frame, delta }, event);
    };
    const released = await this.channels.push(key, data.delta as string, createEvent);
    if (!this.#shown.has(key)) this.#show(key, "");
    return released === "" ? [] : [createEvent(released)];
  }

  /** Keeps a forwarded text. */
  #show(key: string, text: string): void {
    this.#shown.set(key, text);
    this.setKept(`shown/${key}`, key.length + text.length);
  }

  async #begin(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const item = getRecord(data, "item") ?? {};
    if (isHeldCall(item)) {
      this.#held.set(index, [{ event, data }]);
      this.setKept(`call/${index}`, event.data?.length ?? 0);
      return [];
    }
    await checkAnswer(this.call, readItemParts([item]));
    this.#open.set(`${index}/`, data);
    this.setKept(`open/${index}/`, event.data?.length ?? 0);
    return [jsonEvent(data, event)];
  }

  /** Ends an item: replaces its texts by the forwarded ones, or checks it if no text was forwarded. */
  async #end(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const item = getRecord(data, "item") ?? {};
    const events = await this.channels.end(`${index}/`);
    const wasShown = [...this.#shown.keys()].some((key) => key.startsWith(`${index}/`));
    if (wasShown) {
      this.#restoreTexts(item, index);
      await this.#checkExtras(getRecords(item, "content"));
    } else await checkAnswer(this.call, readItemParts([item]));
    const held = this.#held.get(index);
    this.#held.delete(index);
    this.#open.delete(`${index}/`);
    this.#items.set(index, item);
    this.setKept(`call/${index}`, 0);
    this.setKept(`open/${index}/`, 0);
    this.setKept(`item/${index}`, event.data?.length ?? 0);
    return [...events, ...(held ? releaseCall(held, item) : []), jsonEvent(data, event)];
  }

  /** Replaces the texts of an ended item by the forwarded ones. */
  #restoreTexts(item: Json, index: number): void {
    for (const list of ["content", "summary"]) {
      for (const [position, part] of getRecords(item, list).entries()) {
        const key = `${index}/${list}/${position}/`;
        setTexts(part, this.#shown.get(key) ?? "");
        this.#shown.delete(key);
        this.setKept(`shown/${key}`, 0);
      }
    }
  }

  async #handleResponse(type: string, event: SseEvent, data: Json): Promise<readonly SseEvent[]> {
    const response = getRecord(data, "response");
    if (!response) return [event];
    this.#response = response;
    this.setKept("response", event.data?.length ?? 0);
    const events = END_EVENTS.has(type) ? await this.channels.end() : [];
    await checkAnswer(this.call, [readResponseExtras(response)]);
    if (Array.isArray(response.output)) {
      const known = new Map([...this.#items.values()].map((item) => [item.id, item]));
      response.output = response.output.map((item, index) => {
        const shown = this.#items.get(index);
        const isSame = shown && (!isRecord(item) || item.id === undefined || item.id === shown.id);
        return isSame ? shown : (isRecord(item) && item.id !== undefined && known.get(item.id)) || item;
      });
      const shown = new Set(this.#items.values());
      const others = (response.output as Json[]).filter((item) => !shown.has(item));
      await checkAnswer(this.call, readResponseParts({ output: others }));
    }
    if (typeof response.output_text === "string") response.output_text = joinOutputText(response);
    return [...events, jsonEvent(data, event)];
  }

  /** Creates the event that ends an open part or item with its text so far. */
  #createClosingEvent(key: string, data: Json): Json {
    const { output_index, item_id, content_index, summary_index } = data;
    const part = getRecord(data, "part");
    if (part) {
      setTexts(part, this.#shown.get(key) ?? "");
      const location = {
        item_id,
        output_index,
        ...(content_index === undefined ? { summary_index } : { content_index }),
      };
      return { type: String(data.type).replace(/added$/, "done"), ...location, part };
    }
    const item: Json = { ...getRecord(data, "item"), status: "incomplete" };
    if (item.type === "message") {
      const texts = [...this.#shown].filter(([name]) => name.startsWith(`${key}content/`));
      item.content = texts.map(([, text]) => ({ type: "output_text", text, annotations: [] }));
    }
    this.#items.set(output_index as number, item);
    return { type: "response.output_item.done", output_index, item };
  }

  /** Renumbers events, because some are dropped and others are new. */
  #renumber(events: readonly SseEvent[]): SseEvent[] {
    return events.map((event) => {
      if (event.data === undefined) return event;
      const data = parseObject(event.data);
      if (typeof data.sequence_number !== "number") return event;
      this.#lastNumber = Math.max(this.#lastNumber + 1, data.sequence_number);
      return { ...event, data: JSON.stringify({ ...data, sequence_number: this.#lastNumber }) };
    });
  }
}
