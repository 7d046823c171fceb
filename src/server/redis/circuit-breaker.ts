/** During an outage one request in this time tries Redis; the others continue without it at once. */
const RETRY_MS = 1000;

/** Remembers an outage of one server. Times are on the clock of `performance.now()`. */
export class CircuitBreaker {
  #outage: { since: number; retryAt: number } | undefined;

  get isOpen(): boolean {
    return this.#outage !== undefined;
  }

  /** Returns whether a request may try. During an outage the next one must wait after that. */
  admit(): boolean {
    if (!this.#outage) return true;
    const now = performance.now();
    if (now < this.#outage.retryAt) return false;
    this.#outage.retryAt = now + RETRY_MS;
    return true;
  }

  /** @returns whether an outage begins. */
  open(): boolean {
    if (this.#outage) return false;
    const now = performance.now();
    this.#outage = { since: now, retryAt: now + RETRY_MS };
    return true;
  }

  /** @returns the seconds of the outage that ends; undefined if there is none. */
  close(): number | undefined {
    if (!this.#outage) return undefined;
    const seconds = Math.round((performance.now() - this.#outage.since) / 100) / 10;
    this.#outage = undefined;
    return seconds;
  }
}
