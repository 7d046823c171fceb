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
