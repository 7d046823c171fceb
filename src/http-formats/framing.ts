import { upstreamError } from "./errors.ts";
import { encodeEvent, type SseEvent, SseReader, type StreamReader } from "./sse.ts";

/** Writes the events of a stream. */
export interface StreamWriter {
  write(event: SseEvent): Uint8Array<ArrayBuffer>;
  /** Returns the bytes after the last event. */
  end(): Uint8Array<ArrayBuffer>;
}

/** How the events of a stream are separated. */
export interface StreamFraming {
  createReader(): StreamReader;
  createWriter(): StreamWriter;
}

export const SSE_TYPE = "text/event-stream";

/** Returns the framing of a streamed answer by its content type. */
export function framingOf(type: string): StreamFraming {
  return type === SSE_TYPE ? SERVER_SENT_EVENTS : JSON_ARRAY;
}

const encoder = new TextEncoder();

const SERVER_SENT_EVENTS: StreamFraming = {
  createReader: () => new SseReader(),
  createWriter: () => ({ write: encodeEvent, end: () => encoder.encode("") }),
};

/** A JSON array whose items arrive one after another. Google streams like this without `alt=sse`. */
const JSON_ARRAY: StreamFraming = {
  createReader: () => new JsonArrayReader(),
  createWriter() {
    let separator = "[";
    return {
      write({ data }) {
        // Only server-sent events have comments.
        if (data === undefined) return encoder.encode("");
        const item = separator + data;
        separator = ",\r\n";
        return encoder.encode(item);
      },
      end: () => encoder.encode(separator === "[" ? "[]" : "]"),
    };
  },
};

/** The maximum length of an item. */
const MAX_ITEM_LENGTH = 64 * 1024 * 1024;

/** The characters that change the state of the reader. */
const MARK = /["\\[\]{}]/g;

/** Reads the objects of a JSON array. */
class JsonArrayReader implements StreamReader {
  readonly #decoder = new TextDecoder();
  /** How many brackets are open. The array itself is one of them. */
  #depth = 0;
  #isInString = false;
  /** Whether the next character belongs to an escape sequence of a string. */
  #isEscaped = false;
  #isClosed = false;
  /** The pieces of the item that has begun. */
  #item: string[] = [];
  #pendingChars = 0;

  get pendingChars(): number {
    return this.#pendingChars;
  }

  read(bytes: Uint8Array): SseEvent[] {
    return this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): SseEvent[] {
    const events = this.#feed(this.#decoder.decode());
    if (!this.#isClosed) throw upstreamError("The answer ends before its JSON does.");
    return events;
  }

  #feed(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    /** Where the part of the item in this text begins. */
    let start = 0;
    let at = 0;
    while (at < text.length) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        at += 1;
        continue;
      }
      MARK.lastIndex = at;
      const position = MARK.exec(text)?.index ?? text.length;
      if (this.#depth < 2) assertSeparators(text.slice(at, position));
      const mark = text[position];
      at = position + 1;
      if (mark === undefined) break;
      if (this.#depth === 1 && mark === "{") start = position;
      this.#step(mark);
      if (this.#depth !== 1 || mark !== "}") continue;
      events.push({ data: this.#item.join("") + text.slice(start, at) });
      this.#item = [];
      this.#pendingChars = 0;
    }
    if (this.#depth > 1) {
      this.#item.push(text.slice(start));
      this.#pendingChars += text.length - start;
      if (this.#pendingChars > MAX_ITEM_LENGTH) throw upstreamError("An item of the answer is too long.");
    }
    return events;
  }

  /** Takes a character that may open or close a string, an object or an array. */
  #step(mark: string): void {
    if (this.#isInString) {
      if (mark === "\\") this.#isEscaped = true;
      else if (mark === '"') this.#isInString = false;
      return;
    }
    const isExpected = this.#depth === 0 ? mark === "[" && !this.#isClosed : this.#depth > 1 || "{]".includes(mark);
    if (!isExpected) throw upstreamError("The answer is not a list of objects.");
    if (mark === '"') this.#isInString = true;
    else if (mark === "{" || mark === "[") this.#depth += 1;
    else if (mark !== "\\") this.#depth -= 1;
    if (this.#depth === 0) this.#isClosed = true;
  }
}

/** @throws GuardError `GUARD_UPSTREAM` if a text between items is more than white space and commas. */
function assertSeparators(text: string): void {
  if (/[^\s,]/.test(text)) throw upstreamError("The answer is not a list of objects.");
}
