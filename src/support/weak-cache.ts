/** Keeps objects by key without keeping them alive: an object is dropped from the cache when nothing else refers to it any more. */
export class WeakCache<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();
  readonly #collected = new FinalizationRegistry<string>((key) => {
    // A newer object may have the same key.
    if (!this.#values.get(key)?.deref()) this.#values.delete(key);
  });

  /** Returns the object of a key, which `create` makes if there is none. */
  getOrCreate(key: string, create: () => Value): Value {
    const known = this.#values.get(key)?.deref();
    if (known) return known;
    const created = create();
    this.#values.set(key, new WeakRef(created));
    this.#collected.register(created, key);
    return created;
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
