import { awaitWithin } from "./promises.ts";

/** A source of items, as streams and generators are. */
export type ItemSource<Item> = AsyncIterable<Item> | Iterable<Item> | ReadableStream<Item>;

/** Reads one source. */
export interface ItemReader<Item> {
  next(): Promise<IteratorResult<Item, unknown>>;
  /** Ends the source, even while `next` waits. Later errors of the source are dropped. */
  stop(reason?: unknown): void;
}

/** Tells whether a value can be read item by item. */
export function isItemSource(value: unknown): value is ItemSource<unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value || "getReader" in value;
}

/** Returns a reader of a source. The source is not touched before the first call of `next`. */
export function openItems<Item>(source: ItemSource<Item>): ItemReader<Item> {
  // Not every runtime can iterate over a web stream, and its iterator cannot be ended while it waits.
  if ("getReader" in source) {
    const reader = source.getReader();
    return {
      next: () => reader.read() as Promise<IteratorResult<Item, unknown>>,
      stop: (reason) => void reader.cancel(reason).catch(() => {}),
    };
  }
  const items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  return {
    next: async () => items.next(),
    stop() {
      // The iterator of a Node.js stream would end only after its next item.
      if ("destroy" in source && typeof source.destroy === "function") source.destroy();
      else void Promise.resolve(items.return?.()).catch(() => {});
    },
  };
}

/** Marks that no item has arrived for a while. */
export const IDLE = Symbol("idle");

/**
 * Yields the items of a source, and {@link IDLE} whenever `idleAfter` milliseconds pass without an item. It pulls one item at a time and
 * only on demand, so that a slow consumer slows the source down. The source ends when its consumer stops.
 *
 * @param idleAfter returns the milliseconds to wait for the next item, or undefined to wait for it without limit.
 * @throws the reason of the signal when it is aborted, and what the source throws.
 */
export async function* markIdle<Item>(
  items: ItemReader<Item>,
  idleAfter: () => number | undefined,
  signal?: AbortSignal,
): AsyncGenerator<Item | typeof IDLE, void, undefined> {
  let next: Promise<IteratorResult<Item, unknown>> | undefined;
  try {
    for (;;) {
      signal?.throwIfAborted();
      next ??= items.next();
      const result = await awaitWithin(next, idleAfter(), signal);
      if (!result) {
        yield IDLE;
        continue;
      }
      next = undefined;
      if (result.done) return;
      yield result.value;
    }
  } finally {
    // No caller is left to receive an error.
    next?.catch(() => {});
    items.stop(signal?.reason);
  }
}

/**
 * Returns a web stream that pulls one item at a time, on demand.
 *
 * @param onCancel is called when the reader cancels the stream. It must end whatever the items wait for.
 */
export function toReadableStream<Item>(
  items: AsyncIterator<Item> | Iterator<Item>,
  onCancel: (reason: unknown) => unknown = () => {},
): ReadableStream<Item> {
  return new ReadableStream<Item>(
    {
      async pull(controller) {
        const { done, value } = await items.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        await onCancel(reason);
        // An iterator that waits for an item ends when `onCancel` has ended that wait.
        Promise.resolve(items.return?.()).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
