import type { GuardedCall } from "../../guard/guard.ts";
import { Channels } from "../channels.ts";
import { upstreamError, type WireError } from "../errors.ts";
import type { Json, StreamGuard } from "../format.ts";
import { judgeAnswer } from "../judge.ts";
import { parsedObject, recordAt, slotsIn } from "../slots.ts";
import { jsonEvent, type SseEvent } from "../sse.ts";
import { anthropicErrors } from "./anthropic-errors.ts";
import { besideBlock, callsOfBlock, partsOfAnswer } from "./anthropic-parts.ts";

/** The fields of the texts that arrive in pieces, by the types of their deltas. */
const TEXTS: Readonly<Record<string, string>> = { text_delta: "text", thinking_delta: "thinking" };

/** A block that has begun. */
interface Block {
  block: Json;
  /** The JSON of the arguments so far, where the block is a tool call. */
  json: string | undefined;
}

/** Guards the events of Anthropic's messages. A tool call is held until its block has ended. */
export class AnthropicStream implements StreamGuard {
  readonly channels: Channels;
  readonly #call: GuardedCall;
  readonly #request: Json;
  readonly #open = new Map<number, Block>();
  #hasBegun = false;
  /** The index of the next block. */
  #next = 0;

  constructor(call: GuardedCall, request: Json) {
    this.#call = call;
    this.#request = request;
    this.channels = new Channels(call);
  }

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    const data = parsedObject(event.data);
    const index = typeof data.index === "number" ? data.index : 0;
    switch (data.type) {
      case "message_start":
        return this.#begin(event, data);
      case "content_block_start":
        return this.#start(event, data, index);
      case "content_block_delta":
        return this.#delta(event, data, index);
      case "content_block_stop":
        return [...(await this.#stop(index)), event];
      case "message_stop":
        return [...(await this.finish()), event];
      case "message_delta":
      case "ping":
      case "error":
        return [event];
      default:
        await judgeAnswer(this.#call, [{ texts: slotsIn(data), separator: "\n" }]);
        return [jsonEvent(data, event)];
    }
  }

  async finish(): Promise<readonly SseEvent[]> {
    const events: SseEvent[] = [];
    for (const index of [...this.#open.keys()]) events.push(...(await this.#stop(index)));
    return events;
  }

  replace(text: string): readonly SseEvent[] {
    const events: SseEvent[] = [];
    if (!this.#hasBegun) {
      const message = {
        id: "msg_guard",
        type: "message",
        role: "assistant",
        model: this.#request.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 },
      };
      events.push(named({ type: "message_start", message }));
    }
    // A tool call that is held has not begun for the client.
    for (const [index, { json }] of this.#open) {
      if (json === undefined) events.push(named({ type: "content_block_stop", index }));
      else this.#next = Math.min(this.#next, index);
    }
    const index = this.#next;
    return [
      ...events,
      named({ type: "content_block_start", index, content_block: { type: "text", text: "" } }),
      this.#piece(index, "text_delta", text),
      named({ type: "content_block_stop", index }),
      named({
        type: "message_delta",
        delta: { stop_reason: "refusal", stop_sequence: null },
        usage: { output_tokens: 0 },
      }),
      named({ type: "message_stop" }),
    ];
  }

  fail(error: WireError): readonly SseEvent[] {
    return [jsonEvent(anthropicErrors.body(error), { event: "error" })];
  }

  /** Begins the message. Its content comes later, but nothing says that none of it may be there already. */
  async #begin(event: SseEvent, data: Json): Promise<readonly SseEvent[]> {
    this.#hasBegun = true;
    const message = recordAt(data, "message");
    if (!Array.isArray(message?.content) || message.content.length === 0) return [event];
    await judgeAnswer(this.#call, partsOfAnswer(message));
    return [jsonEvent(data, event)];
  }

  async #start(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const block = recordAt(data, "content_block");
    if (!block) throw upstreamError("A block of the answer has no content.");
    this.#next = index + 1;
    const isCall = callsOfBlock(block).length > 0;
    this.#open.set(index, { block, json: isCall ? "" : undefined });
    if (isCall) return [];
    // A block may begin with text already.
    for (const [type, key] of Object.entries(TEXTS)) {
      const text = block[key];
      if (block.type !== key || typeof text !== "string") continue;
      block[key] = await this.#push(index, type, text);
    }
    if (block.type !== "thinking") await judgeAnswer(this.#call, besideBlock(block));
    return [jsonEvent(data, event)];
  }

  async #delta(event: SseEvent, data: Json, index: number): Promise<readonly SseEvent[]> {
    const delta = recordAt(data, "delta");
    const open = this.#open.get(index);
    if (!delta || !open) throw upstreamError("A piece of the answer belongs to no block.");
    if (delta.type === "input_json_delta" && open.json !== undefined) {
      open.json += typeof delta.partial_json === "string" ? delta.partial_json : "";
      return [];
    }
    const key = typeof delta.type === "string" ? TEXTS[delta.type] : undefined;
    if (key !== undefined) {
      const text = typeof delta[key] === "string" ? delta[key] : "";
      const released = await this.#push(index, String(delta.type), text);
      return released === "" ? [] : [jsonEvent({ ...data, delta: { ...delta, [key]: released } }, event)];
    }
    // A signature comes after the thinking that it signs. Anything else, such as a citation, comes whole.
    if (delta.type === "signature_delta") return [...(await this.channels.end(`${index}/`)), event];
    await judgeAnswer(this.#call, [{ texts: slotsIn(delta), separator: "\n" }]);
    return [jsonEvent(data, event)];
  }

  /** Ends a block, and returns what it still held. */
  async #stop(index: number): Promise<SseEvent[]> {
    const open = this.#open.get(index);
    if (!open) return [];
    const events = await this.channels.end(`${index}/`);
    const { block, json } = open;
    if (json !== undefined) {
      // Arguments that arrived in pieces are judged as the model wrote them. They are no JSON when the answer was cut off.
      const called: Json = json === "" ? block : { ...block, input: json };
      await judgeAnswer(this.#call, [{ texts: [], calls: callsOfBlock(called) }]);
      const input = json === "" ? called.input : {};
      events.push(named({ type: "content_block_start", index, content_block: { ...block, input } }));
      const delta = { type: "input_json_delta", partial_json: called.input };
      if (json !== "") events.push(named({ type: "content_block_delta", index, delta }));
    }
    this.#open.delete(index);
    return events;
  }

  #push(index: number, type: string, text: string): Promise<string> {
    return this.channels.push(`${index}/${type}/`, text, (text) => this.#piece(index, type, text));
  }

  #piece(index: number, type: string, text: string): SseEvent {
    return named({ type: "content_block_delta", index, delta: { type, [TEXTS[type] as string]: text } });
  }
}

/** An event that is named after the type of its data. */
function named(data: Json & { type: string }): SseEvent {
  return jsonEvent(data, { event: data.type });
}
