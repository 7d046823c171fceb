import { createParser } from "eventsource-parser";
import { type SseEvent, sseText } from "../support/sse.ts";
import { upstreamError } from "./errors.ts";

export type { SseEvent } from "../support/sse.ts";

/** The maximum length of an event. The last event of OpenAI's Responses API contains the whole answer. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/** Reads server-sent events from bytes that arrive in any pieces. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  #events: SseEvent[] = [];
  #pendingChars = 0;
  #failed = false;
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    onEvent: ({ event, id, data }) => {
      this.#events.push({ event: nameOf(event), id: nameOf(id), data });
    },
    // A comment is not part of the answer, so it is passed on without its text, as a keep-alive.
    onComment: () => {
      this.#events.push({});
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") this.#failed = true;
    },
  });

  /** The length of the event that has not ended, up to the characters of one piece. */
  get pendingChars(): number {
    return this.#pendingChars;
  }

  /** @throws GuardError `GUARD_UPSTREAM` for an event that is too long. */
  read(bytes: Uint8Array): SseEvent[] {
    return this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Returns the remaining events at the end of the bytes. Some servers omit the empty line after the last event. */
  end(): SseEvent[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): SseEvent[] {
    this.#parser.feed(text);
    if (this.#failed) throw upstreamError("An event of the answer is too long.");
    const events = this.#events;
    this.#pendingChars = events.length > 0 ? 0 : this.#pendingChars + text.length;
    this.#events = [];
    return events;
  }
}

/** Returns the name or id of an event without text. */
function nameOf(name: string | undefined): string | undefined {
  return name === undefined || /[^\w.:/+=-]/.test(name) || name.length > 200 ? undefined : name;
}

/** Whether the data of an event is the mark that ends OpenAI's streams, and nothing else. */
export function isDone(data: string): boolean {
  return data.trim() === "[DONE]";
}

const encoder = new TextEncoder();

/** Encodes an event. */
export function encodeEvent(event: SseEvent): Uint8Array {
  return encoder.encode(sseText(event));
}

/** Creates an event with JSON data. */
export function jsonEvent(data: unknown, like: SseEvent = {}): SseEvent {
  return { ...like, data: JSON.stringify(data) };
}

/** Creates an event with the name of its data's type. */
export function namedEvent(data: Readonly<Record<string, unknown>>): SseEvent {
  return jsonEvent(data, { event: String(data.type) });
}
