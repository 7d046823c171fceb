/**
 * Values that come and go all the time, such as running requests, in no order. A value that is added twice is in it twice.
 *
 * A `Set` would keep every request of a busy server in memory until the next full garbage collection: it moves to a new table after some
 * deletions, and V8's old table, once it is in the old generation, keeps the new one alive with all that it contains.
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
    let isRemoved = false;
    return () => {
      if (isRemoved) return;
      isRemoved = true;
      const last = this.#entries.pop() ?? entry;
      if (last === entry) return;
      last.index = entry.index;
      this.#entries[entry.index] = last;
    };
  }

  /** Iterates over the values of this moment. Values may be added and removed meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.#entries.map(({ value }) => value)[Symbol.iterator]();
  }
}
