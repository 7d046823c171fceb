/** Stands in the place of an item when none has come for a while. */
export const IDLE = Symbol("idle");

/**
 * Hands on the items of a source, and {@link IDLE} whenever `waiting` milliseconds have passed without one. It asks the source for one
 * item at a time and only when it is asked itself, so that a slow reader slows the source down.
 *
 * @param waiting is asked before each item. With `undefined` only the source is waited for.
 */
export async function* withIdle<Item>(
  source: AsyncIterable<Item>,
  waiting: () => number | undefined,
): AsyncGenerator<Item | typeof IDLE, void, undefined> {
  const items = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Item>> | undefined;
  try {
    for (;;) {
      next ??= items.next();
      const came = await within(waiting(), next);
      if (came === IDLE) {
        yield IDLE;
        continue;
      }
      next = undefined;
      if (came.done) return;
      yield came.value;
    }
  } finally {
    // Nobody is left whom an error could be told, and a source that waits for its next item would end only after it.
    next?.catch(() => {});
    Promise.resolve(items.return?.()).catch(() => {});
  }
}

async function within<Value>(ms: number | undefined, value: Promise<Value>): Promise<Value | typeof IDLE> {
  if (ms === undefined) return value;
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<typeof IDLE>((resolve) => {
    timer = setTimeout(resolve, ms, IDLE);
  });
  try {
    return await Promise.race([value, idle]);
  } finally {
    clearTimeout(timer);
  }
}
