/**
 * Waits for promises that run side by side. If several of them reject, the error is that of the first in the list, not of the first in
 * time, so that the same mistake always gives the same message. Promises after it are not awaited.
 */
export async function awaitInOrder<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  // A rejection must not count as unhandled before its promise is awaited.
  for (const promise of promises) promise.catch(() => {});
  const values: T[] = [];
  for (const promise of promises) values.push(await promise);
  return values;
}

/** Waits for a promise until the signal is aborted. The work behind the promise continues. */
export function awaitUnlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    // The handlers stay after the abort, because an unhandled rejection would end the process.
    promise.then(
      (value) => {
        signal.removeEventListener("abort", onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener("abort", onAbort);
        reject(error);
      },
    );
  });
}

/**
 * Waits for a promise, at most for the given time. The promise continues afterwards and can be awaited again.
 *
 * @param milliseconds the time limit. Without it, only the promise and the signal count.
 * @returns undefined when the time is over.
 * @throws the reason of the signal when it is aborted.
 */
export async function awaitWithin<T>(
  promise: Promise<T>,
  milliseconds: number | undefined,
  signal?: AbortSignal,
): Promise<T | undefined> {
  if (milliseconds === undefined) return awaitUnlessAborted(promise, signal);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await awaitUnlessAborted(Promise.race([promise, late]), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** A promise that other code settles. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** `Promise.withResolvers` of newer versions of Node.js. A rejection that nobody awaits is not reported. */
export function deferred<T = void>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...(settle as unknown as Omit<Deferred<T>, "promise">) };
}
