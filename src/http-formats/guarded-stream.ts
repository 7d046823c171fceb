import { toReadableStream } from "../support/items.ts";
import { awaitWithin } from "../support/promises.ts";
import type { StreamGuard } from "./format.ts";
import { type SseEvent, SseReader, sseBytes } from "./sse.ts";

/** How the events of an answer are guarded. */
export interface GuardedStreamOptions {
  guard: StreamGuard;
  /** Says how the answer ends when a check failed, or could not be made: with further events, or by throwing. */
  onError(error: unknown): Promise<readonly SseEvent[]>;
  /** Is called when nobody reads on. */
  onCancel(reason: unknown): void;
}

/** Guards an answer that arrives as server-sent events. What is read of upstream is never ahead of what the reader takes. */
export function guardedStream(
  upstream: ReadableStream<Uint8Array>,
  { guard, onError, onCancel }: GuardedStreamOptions,
): ReadableStream<Uint8Array> {
  const reader = upstream.getReader();
  const stop = (reason: unknown) => {
    reader.cancel(reason).catch(() => {});
  };
  const events = guardedEvents(reader, guard, async (error) => {
    stop(error);
    return onError(error);
  });
  return toReadableStream(bytesOf(events), (reason) => {
    stop(reason);
    onCancel(reason);
  });
}

async function* bytesOf(events: AsyncIterable<SseEvent>): AsyncGenerator<Uint8Array, void> {
  for await (const event of events) yield sseBytes(event);
}

async function* guardedEvents(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  guard: StreamGuard,
  onError: (error: unknown) => Promise<readonly SseEvent[]>,
): AsyncGenerator<SseEvent, void> {
  const sse = new SseReader();
  let read = reader.read();
  // A failed read is looked at below. Until then nobody has to catch it.
  read.catch(() => {});
  for (;;) {
    // A failure of upstream is not one of guard: the reader is told of it as it is.
    const arrived = await awaitWithin(read, guard.channels.waiting);
    try {
      if (!arrived) {
        yield* await guard.channels.flush();
        continue;
      }
      const events = arrived.done ? sse.end() : sse.read(arrived.value);
      for (const event of events) yield* await guard.take(event);
      if (arrived.done) {
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
