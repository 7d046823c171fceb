import { toReadableStream } from "../support/items.ts";
import { awaitWithin } from "../support/promises.ts";
import { encodeEvent, type SseEvent, SseReader } from "./sse.ts";
import type { StreamGuard } from "./stream-guard.ts";

/** The options of {@link guardEventStream}. */
export interface GuardedStreamOptions {
  guard: StreamGuard;
  /** Ends the answer after a check failed or was impossible: with events, or by throwing. */
  onError(error: unknown): Promise<readonly SseEvent[]>;
  /** Called when the reader cancels. */
  onCancel(reason: unknown): void;
  /** Called with the number of characters that are held in memory, whenever it changes. An error that it throws ends the answer. */
  onBuffered?: ((chars: number) => void) | undefined;
}

/** Guards an answer of server-sent events. It reads from upstream only on demand of its reader. */
export function guardEventStream(
  upstream: ReadableStream<Uint8Array>,
  { guard, onError, onCancel, onBuffered = () => {} }: GuardedStreamOptions,
): ReadableStream<Uint8Array> {
  const reader = upstream.getReader();
  const cancel = (reason: unknown) => {
    reader.cancel(reason).catch(() => {});
  };
  const events = guardEvents(reader, guard, {
    onBuffered,
    onError(error) {
      cancel(error);
      return onError(error);
    },
  });
  return toReadableStream(encodeEvents(events), (reason) => {
    cancel(reason);
    onCancel(reason);
  });
}

async function* encodeEvents(events: AsyncIterable<SseEvent>): AsyncGenerator<Uint8Array, void> {
  for await (const event of events) yield encodeEvent(event);
}

async function* guardEvents(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  guard: StreamGuard,
  { onError, onBuffered }: { onError: GuardedStreamOptions["onError"]; onBuffered(chars: number): void },
): AsyncGenerator<SseEvent, void> {
  const sse = new SseReader();
  let read = reader.read();
  // A failed read is handled below. Until then it must not count as unhandled.
  read.catch(() => {});
  for (;;) {
    // A failure of upstream is not an error of guard, so the reader gets it unchanged.
    const chunk = await awaitWithin(read, guard.channels.waiting);
    try {
      if (!chunk) {
        yield* await guard.channels.flush();
        continue;
      }
      const events = chunk.done ? sse.end() : sse.read(chunk.value);
      const arrived = events.reduce((sum, { data = "" }) => sum + data.length, sse.pendingChars);
      for (const event of events) {
        onBuffered(arrived + guard.heldChars);
        yield* await guard.take(event);
      }
      onBuffered(sse.pendingChars + guard.heldChars);
      if (chunk.done) {
        yield* await guard.finish();
        return;
      }
    } catch (error) {
      yield* await onError(error);
      return;
    }
    read = reader.read();
    read.catch(() => {});
  }
}
