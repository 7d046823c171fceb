/**
 * The items of a web stream. Not every runtime can iterate over one. The stream is cancelled when its reader leaves, and when the signal
 * aborts, also while the reader waits for an item.
 */
export async function* itemsOf<Item>(
  stream: ReadableStream<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const reader = stream.getReader();
  const onAbort = () => void reader.cancel(signal.reason).catch(() => {});
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    await reader.cancel();
  }
}

/**
 * A web stream of items, which are asked for one at a time, when the reader wants one.
 *
 * @param onCancel is called when the reader leaves. It ends whatever the items wait for.
 */
export function streamOf<Item>(
  items: AsyncIterator<Item> | Iterator<Item>,
  onCancel: (reason: unknown) => void = () => {},
): ReadableStream<Item> {
  return new ReadableStream<Item>(
    {
      async pull(controller) {
        const { done, value } = await items.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        onCancel(reason);
        // An iterator that waits for an item ends when that wait does.
        Promise.resolve(items.return?.()).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
