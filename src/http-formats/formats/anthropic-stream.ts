import { isRecord } from "../../support/is-record.ts";
import { type ReplyError, upstreamError } from "../errors.ts";
import { checkAnswer } from "../exchange-check.ts";
import type { Json } from "../format.ts";
import { findSlots, getRecord, parseObject } from "../slots.ts";
import { jsonEvent, namedEvent, type SseEvent } from "../sse.ts";
import { StreamGuard } from "../stream-guard.ts";
import { anthropicErrors } from "./anthropic-errors.ts";
import { readAnswerParts, readBlockCalls, readBlockExtras, readMessageExtras } from "./anthropic-parts.ts";

/** The fields of streamed texts, by the types of their deltas. */
const TEXT_FIELDS: Readonly<Record<string, string>> = { text_delta: "text", thinking_delta: "thinking" };

/** A block that has started and not ended. */
interface Block {
  block: Json;
  /** The JSON of the arguments so far, if the block is a tool call. */
  json: string | undefined;
}

/** Guards a stream of Anthropic's messages. A tool call is held back until its block ends. */
export class AnthropicStream extends StreamGuard {
  readonly #open = new Map<number, Block>();
  #isStarted = false;
  /** The index of the next block. */
  #next = 0;

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    const data = parseObject(event.data);
    const index = typeof data.index === "number" ? data.index : 0;
    switch (data.type) {
      case "message_start":
        return this.#begin(event, data);
      case "content_block_start":
        return this.#start(event, data, index);
      case "content_block_delta":
        return this.#delta(event, data, index);
      case "content_block_stop":
        return [...(await this.#stop(index)), await this.#checkEvent(event, data)];
      case "message_stop":
        return [...(await this.finish()), await this.#checkEvent(event, data)];
      case "message_delta":
      case "ping":
        return [await this.#checkEvent(event, data)];
      case "error":
        // Clients stop at an error, so the text that is held back precedes it.
        return [...(await this.channels.end()), event];
      default:
        await checkAnswer(this.call, [{ texts: findSlots(data), separator: "\n" }]);
        return [jsonEvent(data, event)];
    }
  }

  /** Checks an event that usually has no text. */
  async #checkEvent(event: SseEvent, data: Json): Promise<SseEvent> {
    const { delta, ...others } = data;
    const parts = [others, ...(isRecord(delta) ? [delta] : [{ delta }])].map(readMessageExtras);
    if (parts.every(({ texts }) => texts.length === 0)) return event;
    await checkAnswer(this.call, parts);
    return jsonEvent({ ...others, ...(delta !== undefined && { delta }) }, event);
  }

  async finish(): Promise<readonly SseEvent[]> {
    const events: SseEvent[] = [];
    for (const index of [...this.#open.keys()]) events.push(...(await this.#stop(index)));
    return events;
  }

  replace(text: string): readonly SseEvent[] {
    const events: SseEvent[] = [];
    if (!this.#isStarted) {
      const message = {
        id: "msg_guard",
        type: "message",
        role: "assistant",
        model: this.request.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 },
      };
      events.push(namedEvent({ type: "message_start", message }));
    }
    // The client does not know of a tool call that is held back.
    for (const [index, { json }] of this.#open) {
      if (json === undefined) events.push(namedEvent({ type: "content_block_stop", index }));
      else this.#next = Math.min(this.#next, index);
    }
    const index = this.#next;
    return [
      ...events,
      namedEvent({ type: "content_block_start", index, content_block: { type: "text", text: "" } }),
      this.#piece(index, "text_delta", text),
      namedEvent({ type: "content_block_stop", index }),
      namedEvent({
        type: "message_delta",
        delta: { stop_reason: "refusal", stop_sequence: null },
        usage: { output_tokens: 0 },
      }),
      namedEvent({ type: "message_stop" }),
    ];
  }

  fail(error: ReplyError): readonly SseEvent[] {
    return [jsonEvent(anthropicErrors.body(error), { event: "error" })];
  }

  /** Starts the message. Content usually follows in other events, but may be in this one. */
  async #begin(event: SseEvent, data: Json): Promise<readonly SseEvent[]> {
    this.#isStarted = true;
    const message = getRecord(data, "message");
    const { content = [] } = message ?? {};
    if (!message || !Array.isArray(content)) throw upstreamError("The start of the answer has no message.");
    const parts = readAnswerParts(Object.assign(message, { content }));
    if (parts.every(({ texts, calls = [] }) => texts.length + calls.length === 0)) return [event];
    await checkAnswer(this.call, parts);
    return [jsonEvent(data, event)];
  }

  async #start(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const block = getRecord(data, "content_block");
    if (!block) throw upstreamError("A block of the answer has no content.");
    this.#next = index + 1;
    const isCall = readBlockCalls(block).length > 0;
    this.#open.set(index, { block, json: isCall ? "" : undefined });
    this.setKept(`block/${index}`, event.data?.length ?? 0);
    if (isCall) {
      await checkAnswer(this.call, readBlockExtras(block));
      return [];
    }
    // The start of a block may contain text.
    for (const [type, key] of Object.entries(TEXT_FIELDS)) {
      const text = block[key];
      if (block.type !== key || typeof text !== "string") continue;
      block[key] = await this.#push(index, type, text);
    }
    const { thinking, ...others } = block;
    // Thinking is checked as a streamed text.
    await checkAnswer(this.call, readBlockExtras(typeof thinking === "string" ? others : block));
    return [jsonEvent(data, event)];
  }

  async #delta(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const delta = getRecord(data, "delta");
    const open = this.#open.get(index);
    if (!delta || !open) throw upstreamError("A delta of the answer belongs to no block.");
    if (delta.type === "input_json_delta" && open.json !== undefined) {
      const piece = typeof delta.partial_json === "string" ? delta.partial_json : "";
      open.json += piece;
      this.addKept(`block/${index}`, piece.length);
      return [];
    }
    const key = typeof delta.type === "string" ? TEXT_FIELDS[delta.type] : undefined;
    if (key !== undefined) {
      const text = typeof delta[key] === "string" ? delta[key] : "";
      const released = await this.#push(index, String(delta.type), text);
      return released === "" ? [] : [jsonEvent({ ...data, delta: { ...delta, [key]: released } }, event)];
    }
    // A signature follows the thinking that it signs. Other deltas, such as citations, are complete.
    if (delta.type === "signature_delta") return [...(await this.channels.end(`${index}/`)), event];
    await checkAnswer(this.call, [{ texts: findSlots(delta), separator: "\n" }]);
    return [jsonEvent(data, event)];
  }

  /** Ends a block and returns events with its remaining text or its tool call. */
  async #stop(index: number): Promise<SseEvent[]> {
    const open = this.#open.get(index);
    if (!open) return [];
    const events = await this.channels.end(`${index}/`);
    const { block, json } = open;
    if (json !== undefined) {
      // Streamed arguments are checked as text, because they are not JSON if the answer was cut off.
      const called: Json = json === "" ? block : { ...block, input: json };
      await checkAnswer(this.call, [{ texts: [], calls: readBlockCalls(called) }]);
      const input = json === "" ? called.input : {};
      events.push(namedEvent({ type: "content_block_start", index, content_block: { ...block, input } }));
      const delta = { type: "input_json_delta", partial_json: called.input };
      if (json !== "") events.push(namedEvent({ type: "content_block_delta", index, delta }));
    }
    this.#open.delete(index);
    this.setKept(`block/${index}`, 0);
    return events;
  }

  #push(index: number, type: string, text: string): Promise<string> {
    return this.channels.push(`${index}/${type}/`, text, (text) => this.#piece(index, type, text));
  }

  #piece(index: number, type: string, text: string): SseEvent {
    return namedEvent({ type: "content_block_delta", index, delta: { type, [TEXT_FIELDS[type] as string]: text } });
  }
}
