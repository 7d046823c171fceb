/** Returns the highest number of each key, with the keys in the order in which they first appear. */
export function highestByKey<Key>(entries: Iterable<readonly [Key, number]>): Map<Key, number> {
  const highest = new Map<Key, number>();
  for (const [key, value] of entries) highest.set(key, Math.max(highest.get(key) ?? value, value));
  return highest;
}
