/**
 * Waits for promises that are under way together. When several of them fail, the error is that of the first in the list, whichever
 * failed first: the same mistake has the same message each time. Those behind it are not waited for.
 */
export async function allInOrder<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  // Until its turn comes, a failure must not count as an unhandled rejection.
  for (const promise of promises) promise.catch(() => {});
  const values: T[] = [];
  for (const promise of promises) values.push(await promise);
  return values;
}
