import { toReadableStream } from "../support/items.ts";
import { awaitWithin } from "../support/promises.ts";
import type { StreamFraming } from "./framing.ts";
import type { SseEvent } from "./sse.ts";
import type { StreamGuard } from "./stream-guard.ts";

/** The options of {@link guardEventStream}. */
export interface GuardedStreamOptions {
  guard: StreamGuard;
  framing: StreamFraming;
  /** Ends the answer after a check failed or was impossible: with events, or by throwing. */
  onError(error: unknown): Promise<readonly SseEvent[]>;
  /** Called when the reader cancels. */
  onCancel(reason: unknown): void;
  /** Called with the number of characters that are held in memory, whenever it changes. An error that it throws ends the answer. */
  onBuffered?: ((chars: number) => void) | undefined;
}

/** Guards an answer that is a stream of events. It reads from upstream only on demand of its reader. */
export function guardEventStream(
  upstream: ReadableStream<Uint8Array>,
  { guard, framing, onError, onCancel, onBuffered = () => {} }: GuardedStreamOptions,
): ReadableStream<Uint8Array> {
  const reader = upstream.getReader();
  const cancel = (reason: unknown) => {
    reader.cancel(reason).catch(() => {});
  };
  const events = guardEvents(reader, guard, {
    framing,
    onBuffered,
    onError(error) {
      cancel(error);
      return onError(error);
    },
  });
  return toReadableStream(encodeEvents(events, framing), (reason) => {
    cancel(reason);
    onCancel(reason);
  });
}

async function* encodeEvents(
  events: AsyncIterable<SseEvent>,
  framing: StreamFraming,
): AsyncGenerator<Uint8Array, void> {
  const writer = framing.createWriter();
  for await (const event of events) yield writer.write(event);
  const rest = writer.end();
  if (rest.length > 0) yield rest;
}

async function* guardEvents(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  guard: StreamGuard,
  {
    framing,
    onError,
    onBuffered,
  }: Pick<GuardedStreamOptions, "framing" | "onError"> & { onBuffered(chars: number): void },
): AsyncGenerator<SseEvent, void> {
  const stream = framing.createReader();
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
      const events = chunk.done ? stream.end() : stream.read(chunk.value);
      const arrived = events.reduce((sum, { data = "" }) => sum + data.length, stream.pendingChars);
      for (const event of events) {
        onBuffered(arrived + guard.heldChars);
        yield* await guard.take(event);
      }
      onBuffered(stream.pendingChars + guard.heldChars);
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
