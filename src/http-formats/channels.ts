import { throwIfBlocked } from "../guard/blocked.ts";
import type { GuardedCall, GuardReport } from "../guard/guard.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";
import type { SseEvent } from "./sse.ts";

/** Makes an event that carries a text of a channel. */
type Make = (text: string) => SseEvent;

interface Channel {
  stream: AnswerStream<GuardReport>;
  make: Make;
  /** When {@link AnswerStream.flush} would give something out, in milliseconds of `performance.now()`. */
  due: number | undefined;
}

/** The texts of an answer that arrive side by side: one for each choice, content block or output item. */
export class Channels {
  readonly #call: GuardedCall;
  readonly #open = new Map<string, Channel>();

  constructor(call: GuardedCall) {
    this.#call = call;
  }

  /**
   * Takes the next piece of a text.
   *
   * @param make makes the event for what is given out later, without a piece of its own.
   * @returns what may be shown now.
   * @throws GuardBlockedError when nothing more may be shown.
   */
  async push(key: string, piece: string, make: Make): Promise<string> {
    let channel = this.#open.get(key);
    if (!channel) {
      if (piece === "") return "";
      channel = { stream: this.#call.answerStream(), make, due: undefined };
      this.#open.set(key, channel);
    }
    channel.make = make;
    return piece === "" ? "" : this.#givenOut(channel, await channel.stream.push(piece));
  }

  /** Ends the texts whose keys begin with `prefix`, and returns the events for what they still held. */
  async end(prefix = ""): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    for (const [key, channel] of [...this.#open]) {
      if (!key.startsWith(prefix)) continue;
      this.#open.delete(key);
      const text = this.#givenOut(channel, await channel.stream.end());
      if (text !== "") events.push(channel.make(text));
    }
    return events;
  }

  /** The milliseconds after which {@link flush} would give something out. */
  get waiting(): number | undefined {
    const dues = [...this.#open.values()].flatMap(({ due }) => due ?? []);
    return dues.length > 0 ? Math.max(0, Math.min(...dues) - performance.now()) : undefined;
  }

  /** Gives out what has waited for long enough. */
  async flush(): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    const now = performance.now();
    for (const channel of this.#open.values()) {
      if (channel.due === undefined || channel.due > now) continue;
      const text = this.#givenOut(channel, await channel.stream.flush());
      if (text !== "") events.push(channel.make(text));
    }
    return events;
  }

  #givenOut(channel: Channel, { text, report }: StreamStep<GuardReport>): string {
    if (report) throwIfBlocked("answer", report);
    const { waiting } = channel.stream;
    channel.due = waiting === undefined ? undefined : performance.now() + waiting;
    return text;
  }
}
