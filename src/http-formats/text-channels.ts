import { throwIfBlocked } from "../guard/blocked-error.ts";
import type { GuardedCall, GuardReport } from "../guard/guard.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";
import type { SseEvent } from "./sse.ts";

/** Creates an event with a text of a channel. */
type CreateEvent = (text: string) => SseEvent;

interface TextChannel {
  stream: AnswerStream<GuardReport>;
  createEvent: CreateEvent;
  /** About how many characters wait. Masks change the length of a text. */
  waitingChars: number;
  /** When {@link AnswerStream.flush} has text to release, in milliseconds of `performance.now()`. */
  due: number | undefined;
}

/** The memory of a scan of a text, besides the text itself, in characters. */
const SCAN_CHARS = 2048;

/** The texts of an answer that are streamed in parallel: one for each choice, content block or output item. */
export class TextChannels {
  readonly #call: GuardedCall;
  readonly #open = new Map<string, TextChannel>();
  #heldChars = 0;

  constructor(call: GuardedCall) {
    this.#call = call;
  }

  /**
   * Takes the next piece of a text.
   *
   * @param createEvent creates the event for text that is released later, not in reply to a piece.
   * @returns the text that may be shown now.
   * @throws GuardBlockedError if no more text may be shown.
   */
  async push(key: string, piece: string, createEvent: CreateEvent): Promise<string> {
    let channel = this.#open.get(key);
    if (!channel) {
      if (piece === "") return "";
      channel = { stream: this.#call.answerStream(), createEvent, waitingChars: 0, due: undefined };
      this.#open.set(key, channel);
      this.#heldChars += SCAN_CHARS;
    }
    channel.createEvent = createEvent;
    if (piece === "") return "";
    this.#wait(channel, piece.length);
    return this.#release(channel, await channel.stream.push(piece));
  }

  /** Ends the texts whose keys begin with `prefix`, and returns events with their remaining text. */
  async end(prefix = ""): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    for (const [key, channel] of [...this.#open]) {
      if (!key.startsWith(prefix)) continue;
      this.#open.delete(key);
      const text = this.#release(channel, await channel.stream.end());
      this.#wait(channel, -channel.waitingChars);
      this.#heldChars -= SCAN_CHARS;
      if (text !== "") events.push(channel.createEvent(text));
    }
    return events;
  }

  /** The keys of the open texts that begin with `prefix`. */
  keys(prefix: string): string[] {
    return [...this.#open.keys()].filter((key) => key.startsWith(prefix));
  }

  /** About how many characters of memory the texts take. */
  get heldChars(): number {
    return this.#heldChars;
  }

  /** The milliseconds after which {@link flush} has text to release. */
  get waiting(): number | undefined {
    const dues = [...this.#open.values()].flatMap(({ due }) => due ?? []);
    return dues.length > 0 ? Math.max(0, Math.min(...dues) - performance.now()) : undefined;
  }

  /** Releases text that has waited long enough. */
  async flush(): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    const now = performance.now();
    for (const channel of this.#open.values()) {
      if (channel.due === undefined || channel.due > now) continue;
      const text = this.#release(channel, await channel.stream.flush());
      if (text !== "") events.push(channel.createEvent(text));
    }
    return events;
  }

  #release(channel: TextChannel, { text, report }: StreamStep<GuardReport>): string {
    if (report) throwIfBlocked("answer", report);
    const { waiting } = channel.stream;
    channel.due = waiting === undefined ? undefined : performance.now() + waiting;
    this.#wait(channel, -Math.min(text.length, channel.waitingChars));
    return text;
  }

  #wait(channel: TextChannel, chars: number): void {
    channel.waitingChars += chars;
    this.#heldChars += chars;
  }
}
