/**
 * An unordered collection for values that are added and removed all the time, such as running requests. It may contain a value twice.
 *
 * A `Set` would keep the finished requests of a busy server in memory until the next full garbage collection. V8 replaces the hash table of a
 * set after some deletions, and each table refers to its successor. Collections of the young generation keep all that a table in the old
 * generation refers to, even if nobody uses that table any more: the later tables and the requests in them.
 */
export class Bag<T> implements Iterable<T> {
  readonly #entries: { readonly value: T; index: number }[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Adds a value. The returned function removes it; only its first call has an effect. */
  add(value: T): () => void {
    const entry = { value, index: this.#entries.length };
    this.#entries.push(entry);
    return () => {
      if (this.#entries[entry.index] !== entry) return;
      // The last entry takes the place of the removed one.
      const last = this.#entries.pop();
      if (!last || last === entry) return;
      last.index = entry.index;
      this.#entries[entry.index] = last;
    };
  }

  /** Iterates over a copy, so values may be added and removed meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.#entries.map(({ value }) => value)[Symbol.iterator]();
  }
}
