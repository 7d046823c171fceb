import { within } from "./within.ts";

/** What gives items one after the other. */
export type ItemSource<Item> = AsyncIterable<Item> | Iterable<Item> | ReadableStream<Item>;

/** A source that is read. */
export interface ItemReader<Item> {
  next(): Promise<IteratorResult<Item, unknown>>;
  /** Ends the source, also while an item is awaited. Nobody is told of errors any more. */
  stop(reason?: unknown): void;
}

/** Tells whether a value can be read item by item. */
export function isItemSource(value: unknown): value is ItemSource<unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value || "getReader" in value;
}

/** Begins to read a source. Nothing is asked of it before the first call of `next`. */
export function itemsOf<Item>(source: ItemSource<Item>): ItemReader<Item> {
  // Not every runtime can iterate over a web stream, and an iterator of one cannot be ended while it waits.
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
      // The iterator of a stream of Node.js would end only after its next item.
      if ("destroy" in source && typeof source.destroy === "function") source.destroy();
      else void Promise.resolve(items.return?.()).catch(() => {});
    },
  };
}

/** Stands in the place of an item when none has come for a while. */
export const IDLE = Symbol("idle");

/**
 * Hands on the items of a source, and {@link IDLE} whenever `waiting` milliseconds have passed without one. It asks the source for one
 * item at a time and only when it is asked itself, so that a slow reader slows the source down. The source ends when its reader leaves.
 *
 * @param waiting is asked before each item. With `undefined` only the source is waited for.
 * @throws the reason of the signal when it is aborted, and what the source throws.
 */
export async function* withIdle<Item>(
  items: ItemReader<Item>,
  waiting: () => number | undefined,
  signal?: AbortSignal,
): AsyncGenerator<Item | typeof IDLE, void, undefined> {
  let next: Promise<IteratorResult<Item, unknown>> | undefined;
  try {
    for (;;) {
      signal?.throwIfAborted();
      next ??= items.next();
      const came = await within(next, waiting(), signal);
      if (!came) {
        yield IDLE;
        continue;
      }
      next = undefined;
      if (came.done) return;
      yield came.value;
    }
  } finally {
    // Nobody is left whom an error could be told.
    next?.catch(() => {});
    items.stop(signal?.reason);
  }
}

/**
 * A web stream of items, which are asked for one at a time, when the reader wants one.
 *
 * @param onCancel is called when the reader leaves. It ends whatever the items wait for.
 */
export function readableOf<Item>(
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
        // An iterator that waits for an item ends when that wait does.
        Promise.resolve(items.return?.()).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
