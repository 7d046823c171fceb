/** Stops waiting when the signal is aborted; the promise itself goes on. */
export function withSignal<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    // Heard even where nobody waits any more: a rejection that nobody hears ends the process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
