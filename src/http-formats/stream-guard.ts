import type { GuardedCall } from "../guard/guard.ts";
import type { ReplyError } from "./errors.ts";
import type { SseEvent } from "./sse.ts";
import { TextChannels } from "./text-channels.ts";

/** Guards an answer that is a stream of events. */
export abstract class StreamGuard {
  /** The texts of the stream. */
  readonly channels: TextChannels;
  protected readonly call: GuardedCall;
  /** The body of the request. */
  protected readonly request: Record<string, unknown>;
  readonly #keptChars = new Map<string, number>();
  #keptTotal = 0;

  constructor(call: GuardedCall, request: Record<string, unknown>) {
    this.call = call;
    this.request = request;
    this.channels = new TextChannels(call);
  }

  /** About how many characters of the answer are held in memory. */
  get heldChars(): number {
    return this.channels.heldChars + this.#keptTotal;
  }

  /** Sets how many characters of the answer are kept under a name, besides the texts of {@link channels}. */
  protected setKept(name: string, chars: number): void {
    this.#keptTotal += chars - (this.#keptChars.get(name) ?? 0);
    if (chars === 0) this.#keptChars.delete(name);
    else this.#keptChars.set(name, chars);
  }

  /** Adds to the characters that are kept under a name. */
  protected addKept(name: string, chars: number): void {
    this.setKept(name, (this.#keptChars.get(name) ?? 0) + chars);
  }

  /** Takes the next event and returns the events to forward. */
  abstract take(event: SseEvent): Promise<readonly SseEvent[]>;
  /** Returns the remaining events at the end of the stream. */
  abstract finish(): Promise<readonly SseEvent[]>;
  /** Returns events that end a blocked answer with a replacement text. */
  abstract replace(text: string): readonly SseEvent[];
  /** Returns events that end the answer with an error. */
  abstract fail(error: ReplyError): readonly SseEvent[];
}
