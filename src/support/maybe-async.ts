/**
 * A value that is there already, or a promise of it. The addon answers short texts synchronously, and a promise would then take longer
 * than the work: about 1 µs for a rule, and 10 µs for a scan of several steps. Only code on the path of one rule scanner and one text
 * returns this type. Everything else uses `await`, which takes both.
 */
export type MaybeAsync<T> = T | Promise<T>;

/**
 * Tells whether a value is a promise. It does not use `instanceof`: a test runner that gives each file its own globals would make the
 * addon's promises look like values, and their verdicts would count as passes.
 */
export function isPromise<T>(value: MaybeAsync<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | null | undefined)?.then === "function";
}

/** Applies a function to a value: immediately if the value is there, and otherwise when the promise resolves. */
export function andThen<T, U>(value: MaybeAsync<T>, apply: (value: T) => MaybeAsync<U>): MaybeAsync<U> {
  return isPromise(value) ? value.then(apply) : apply(value);
}
