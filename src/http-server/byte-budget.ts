import { Problem } from "./problem.ts";

/** The minimum of the default budget in bytes. */
const DEFAULT_BYTES = 64 * 1024 * 1024;

/** Returns the default budget in bytes for bodies of this size. */
export function defaultBodyBudget(maxBodySize: number): number {
  return Math.max(DEFAULT_BYTES, 2 * maxBodySize);
}

/** Memory that a request or an answer takes from a {@link ByteBudget}. */
export interface BudgetShare {
  /**
   * Takes more bytes.
   *
   * @throws the error of the budget if there is no room for them.
   */
  add(bytes: number): void;
  /**
   * Sets the number of bytes.
   *
   * @throws the error of the budget if there is no room for more bytes than before.
   */
  resize(bytes: number): void;
  /** Returns all bytes. */
  release(): void;
}

/**
 * Limits the bytes that all requests, or all answers, take at a time. Only bytes that have arrived count, so clients that announce a body
 * and do not send it take nothing from others. A caller with several shares gets half of the budget, so that some is left for others.
 */
export class ByteBudget {
  readonly #maxBytes: number;
  readonly #createError: () => Error;
  readonly #byCaller = new Map<string, { shares: number; bytes: number }>();
  #bytes = 0;

  /** @param createError creates the error for a share that does not fit. */
  constructor(maxBytes: number, createError: () => Error) {
    this.#maxBytes = maxBytes;
    this.#createError = createError;
  }

  /**
   * Opens a share.
   *
   * @param announced the number of bytes that will arrive as far as it is known, or 0. They are not taken yet.
   * @throws the error of the budget if there is no room for that number.
   */
  open(caller: string, announced: number): BudgetShare {
    const own = this.#byCaller.get(caller) ?? { shares: 0, bytes: 0 };
    const assertRoom = (bytes: number) => {
      const isOverHalf = own.shares > 1 && own.bytes + bytes > this.#maxBytes / 2;
      if (this.#bytes + bytes > this.#maxBytes || isOverHalf) throw this.#createError();
    };
    own.shares++;
    this.#byCaller.set(caller, own);
    let taken = 0;
    let isReleased = false;
    const take = (bytes: number) => {
      if (isReleased) return;
      if (bytes > 0) assertRoom(bytes);
      taken += bytes;
      own.bytes += bytes;
      this.#bytes += bytes;
    };
    const release = () => {
      if (isReleased) return;
      take(-taken);
      isReleased = true;
      own.shares--;
      if (own.shares === 0) this.#byCaller.delete(caller);
    };
    try {
      assertRoom(announced);
    } catch (error) {
      release();
      throw error;
    }
    return { add: take, resize: (bytes) => take(bytes - taken), release };
  }
}

/**
 * Creates a budget for the bodies of requests, which refuses a body with status 503.
 *
 * @param setting the name of the setting for the budget, for errors.
 */
export function bodyBudget(maxBytes: number, setting: string): ByteBudget {
  const message = `The bodies of all requests in progress would have more than ${maxBytes} bytes (${setting}).`;
  const headers = { "retry-after": "1", connection: "close" };
  return new ByteBudget(maxBytes, () => new Problem(503, message, { headers }));
}
