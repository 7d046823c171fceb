/** Objects by key, each for as long as something else uses it. */
export class WeakCache<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();
  readonly #collected = new FinalizationRegistry<string>((key) => {
    // A newer object may have the same key.
    if (!this.get(key)) this.#values.delete(key);
  });

  get(key: string): Value | undefined {
    return this.#values.get(key)?.deref();
  }

  set(key: string, value: Value): void {
    this.#values.set(key, new WeakRef(value));
    this.#collected.register(value, key);
  }
}
