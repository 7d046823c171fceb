/** The length of a time slice in milliseconds. */
const SLICE_MS = 5;

const waiting: (() => void)[] = [];

/**
 * Splits long synchronous work into time slices, so that the event loop keeps running: requests are answered, timers fire, signals abort.
 * Each iteration of the event loop runs one slice, however many calls wait for theirs. Work that ends within its first slice never waits.
 *
 * ```ts
 * const slice = new TimeSlice(signal);
 * for (const item of many) {
 *   if (slice.isOver) await slice.next();
 *   ...
 * }
 * ```
 */
export class TimeSlice {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  /** @param signal aborts the work: {@link next} then rejects with its reason. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether the current slice has used its time. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Waits for the next slice. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(startNext);
    });
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}

/** Starts the slice that has waited longest. The others wait for later iterations of the event loop. */
function startNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(startNext);
}
