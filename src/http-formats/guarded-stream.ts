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
}

/** Guards an answer of server-sent events. It reads from upstream only on demand of its reader. */
export function guardEventStream(
  upstream: ReadableStream<Uint8Array>,
  { guard, onError, onCancel }: GuardedStreamOptions,
): ReadableStream<Uint8Array> {
  const reader = upstream.getReader();
  const cancel = (reason: unknown) => {
    reader.cancel(reason).catch(() => {});
  };
  const events = guardEvents(reader, guard, async (error) => {
    cancel(error);
    return onError(error);
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
  onError: (error: unknown) => Promise<readonly SseEvent[]>,
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
      for (const event of events) yield* await guard.take(event);
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
