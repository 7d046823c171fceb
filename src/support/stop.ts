import { setMaxListeners } from "node:events";

/** Why work is stopped at the end of its call. Node.js makes an error with a stack for each call where there is no reason. */
export const ENDED = new DOMException("the call has ended", "AbortError");

/**
 * Stops work, as an `AbortController` does. Its signal is made when somebody asks for it: making one and listening to it take longer than
 * rules need for a short text.
 */
export class Stop {
  #controller: AbortController | undefined;
  #isAborted = false;
  #reason: unknown;
  readonly #waiting = new Set<(reason: unknown) => void>();

  /** Any number of scanners of any number of texts may listen to it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // Node.js would warn of a leak from eleven listeners on.
      setMaxListeners(0, this.#controller.signal);
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** Why the work was stopped. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Stops the work. Only the first call counts. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
  }

  /** @throws the reason when the work was stopped. */
  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** Is stopped together with a signal, until the function that is returned is called. */
  follow(signal: AbortSignal): () => void {
    const onAbort = () => this.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  }

  /** Waits for a promise, but no longer than until the work is stopped. What is behind the promise may go on. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isAborted) reject(this.#reason);
      else this.#waiting.add(reject);
      // It is still listened to after nobody waits for it any more, because an unhandled rejection would end the process.
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
 * Creates a signal for one call. It is aborted together with the caller's signal, and when the call ends, so that nothing goes on when the
 * call ends early. `AbortSignal.any` is not used: a long-lived signal would keep something in memory for every call.
 */
export function callSignal(outer: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
  const own = new Stop();
  const unfollow = outer && own.follow(outer);
  const end = () => {
    unfollow?.();
    own.abort(ENDED);
  };
  return { signal: own.signal, end };
}
