import { createParser } from "eventsource-parser";
import { type SseEvent, sseText } from "../support/sse.ts";
import { upstreamError } from "./errors.ts";

export type { SseEvent } from "../support/sse.ts";

/** The most characters of one event: the last event of OpenAI's Responses API holds the whole answer. */
const LONGEST_EVENT = 64 * 1024 * 1024;

/** Reads server-sent events from bytes that arrive in any pieces. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  #events: SseEvent[] = [];
  #failed = false;
  readonly #parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ event, id, data }) => {
      this.#events.push({ event, id, data });
    },
    // What a comment says is no part of the answer, so only the sign of life goes on.
    onComment: () => {
      this.#events.push({});
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") this.#failed = true;
    },
  });

  /** @throws GuardError `GUARD_UPSTREAM` for an event that is too long. */
  read(bytes: Uint8Array): SseEvent[] {
    return this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The rest, when no more bytes come. Some servers leave out the empty line after the last event. */
  end(): SseEvent[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): SseEvent[] {
    this.#parser.feed(text);
    if (this.#failed) throw upstreamError("An event of the answer is too long.");
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

const encoder = new TextEncoder();

/** The bytes of an event. */
export function sseBytes(event: SseEvent): Uint8Array {
  return encoder.encode(sseText(event));
}

/** An event whose data is JSON. */
export function jsonEvent(data: unknown, like: SseEvent = {}): SseEvent {
  return { ...like, data: JSON.stringify(data) };
}
