import { Problem } from "./problem.ts";

/** The minimum of the default budget in bytes. */
const DEFAULT_BYTES = 64 * 1024 * 1024;

/** Returns the default budget in bytes for bodies of this size. */
export function defaultBodyBudget(maxBodySize: number): number {
  return Math.max(DEFAULT_BYTES, 2 * maxBodySize);
}

/** A body that is being received or processed. */
export interface OpenBody {
  /**
   * Counts bytes that have arrived.
   *
   * @throws Problem 503 if the bodies of all requests are larger than the budget.
   */
  add(bytes: number): void;
  /** Frees the bytes of the body. */
  release(): void;
}

/**
 * Limits the bytes of all bodies that a server receives and processes at a time. Only received bytes count, so clients that announce a body
 * and do not send it take nothing from others. A caller with several bodies gets half of the budget, so that some is left for others.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #setting: string;
  readonly #byCaller = new Map<string, { bodies: number; bytes: number }>();
  #bytes = 0;

  /** @param setting the name of the setting for the budget, for errors. */
  constructor(maxBytes: number, setting: string) {
    this.#maxBytes = maxBytes;
    this.#setting = setting;
  }

  /**
   * Begins to receive a body.
   *
   * @param announced the length that the client announced, or 0.
   * @throws Problem 503 if there is no room for that length.
   */
  open(caller: string, announced: number): OpenBody {
    const own = this.#byCaller.get(caller) ?? { bodies: 0, bytes: 0 };
    const assertRoom = (bytes: number) => {
      const isOverHalf = own.bodies > 1 && own.bytes + bytes > this.#maxBytes / 2;
      if (this.#bytes + bytes > this.#maxBytes || isOverHalf) throw this.#full();
    };
    own.bodies++;
    this.#byCaller.set(caller, own);
    let received = 0;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#bytes -= received;
      own.bytes -= received;
      own.bodies--;
      if (own.bodies === 0) this.#byCaller.delete(caller);
    };
    try {
      assertRoom(announced);
    } catch (error) {
      release();
      throw error;
    }
    return {
      add: (bytes) => {
        if (isReleased) return;
        assertRoom(bytes);
        received += bytes;
        own.bytes += bytes;
        this.#bytes += bytes;
      },
      release,
    };
  }

  #full(): Problem {
    const message = `The bodies of all requests in progress would have more than ${this.#maxBytes} bytes (${this.#setting}).`;
    return new Problem(503, message, { headers: { "retry-after": "1", connection: "close" } });
  }
}
