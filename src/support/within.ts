import { withSignal } from "./with-signal.ts";

/**
 * Waits for a promise, but no longer than so many milliseconds when they are given. The promise goes on then, and can be waited for
 * again.
 *
 * @returns undefined when the time is over.
 * @throws the reason of the signal when it is aborted.
 */
export async function within<T>(
  promise: Promise<T>,
  milliseconds: number | undefined,
  signal?: AbortSignal,
): Promise<T | undefined> {
  if (milliseconds === undefined) return withSignal(promise, signal);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await withSignal(Promise.race([promise, late]), signal);
  } finally {
    clearTimeout(timer);
  }
}
