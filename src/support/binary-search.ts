/**
 * Returns the index of the first item for which a test holds, or the number of items if it holds for none. The items must be ordered so that
 * it holds for all items after the first one.
 */
export function firstIndexWhere<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle] as Item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
