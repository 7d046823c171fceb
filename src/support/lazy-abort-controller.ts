import { setMaxListeners } from "node:events";

/** The reason with which work is aborted when its call ends. Without a reason, Node.js would create an error with a stack trace each time. */
export const CALL_ENDED = new DOMException("the call has ended", "AbortError");

/**
 * An `AbortController` that creates its signal when it is first read. Creating a signal and listening to it takes longer than rules need
 * for a short text.
 */
export class LazyAbortController {
  #controller: AbortController | undefined;
  #isAborted = false;
  #reason: unknown;
  readonly #waiting = new Set<(reason: unknown) => void>();

  /** The signal. Any number of scanners may listen to it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // By default, Node.js warns about a leak from the eleventh listener on.
      setMaxListeners(0, this.#controller.signal);
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** Why the work was aborted. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Aborts the work. Only the first call has an effect. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
  }

  /** @throws the reason if the work was aborted. */
  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** Aborts when the given signal does. The returned function ends that. */
  follow(signal: AbortSignal): () => void {
    const onAbort = () => this.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  }

  /** Waits for a promise until the work is aborted. The work behind the promise may continue. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isAborted) reject(this.#reason);
      else this.#waiting.add(reject);
      // The handlers stay after the abort, because an unhandled rejection would end the process.
      promise.then(
        (value) => {
          this.#waiting.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }
}

/**
 * Creates a signal for one call. It is aborted together with the caller's signal and at the end of the call, so that no work outlives the
 * call. `AbortSignal.any` is not used, because a long-lived signal would retain memory of every call.
 */
export function callSignal(outer: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
  const own = new LazyAbortController();
  const unfollow = outer && own.follow(outer);
  const end = () => {
    unfollow?.();
    own.abort(CALL_ENDED);
  };
  return { signal: own.signal, end };
}
