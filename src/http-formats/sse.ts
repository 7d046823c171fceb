import { createParser, type ParseError } from "eventsource-parser";
import { isRecord } from "../support/is-record.ts";
import { type SseEvent, sseText } from "../support/sse.ts";
import { upstreamError } from "./errors.ts";

export type { SseEvent } from "../support/sse.ts";

/** Reads the events of a stream from bytes that arrive in any pieces. */
export interface StreamReader {
  /** The length of the event that has not ended, up to the characters of one piece. */
  readonly pendingChars: number;
  /** @throws GuardError `GUARD_UPSTREAM` for bytes that are not events. */
  read(bytes: Uint8Array): SseEvent[];
  /** Returns the remaining events at the end of the bytes. */
  end(): SseEvent[];
}

/** The maximum length of an event. The last event of OpenAI's Responses API contains the whole answer. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/** The maximum length of an error without the names of fields. */
const MAX_BARE_LENGTH = 65_536;

/** Reads server-sent events from bytes that arrive in any pieces. */
export class SseReader implements StreamReader {
  readonly #decoder = new TextDecoder();
  #events: SseEvent[] = [];
  #pendingChars = 0;
  #failed = false;
  /** The lines that are not fields. */
  #bare = "";
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    onEvent: ({ event, id, data }) => {
      this.#events.push({ event: nameOf(event), id: nameOf(id), data });
    },
    // A comment is not part of the answer, so it is passed on without its text, as a keep-alive.
    onComment: () => {
      this.#events.push({});
    },
    onError: (error) => this.#takeFault(error),
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
    const events = this.#feed(`${this.#decoder.decode()}\n\n`);
    return isBareError(this.#bare) ? [...events, { data: this.#bare, isBare: true }] : events;
  }

  #takeFault({ type, line = "" }: ParseError): void {
    if (type === "max-buffer-size-exceeded") this.#failed = true;
    if (this.#bare.length + line.length < MAX_BARE_LENGTH) this.#bare += line;
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

/** Whether lines without the names of fields are an error of Google's APIs. */
function isBareError(lines: string): boolean {
  if (!lines.startsWith("{")) return false;
  try {
    const value: unknown = JSON.parse(lines);
    return isRecord(value) && isRecord(value.error) && Object.keys(value).length === 1;
  } catch {
    return false;
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
export function encodeEvent(event: SseEvent): Uint8Array<ArrayBuffer> {
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
