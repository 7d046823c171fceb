/** The milliseconds that one piece of work may go on before other work gets its turn. */
const TURN = 5;

const waiting: (() => void)[] = [];

/**
 * Cuts long work of JavaScript into turns, so that the event loop goes on: requests are answered, timers fire, signals are seen. However
 * many calls work in turns, one of them has a turn in each round of the loop. Work that ends within its first turn never waits.
 *
 * ```ts
 * const turns = new Turns(signal);
 * for (const item of many) {
 *   if (turns.isOver) await turns.next();
 *   ...
 * }
 * ```
 */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  /** @param signal ends the work: {@link next} then rejects with its reason. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether this turn has lasted so long that others should have theirs. */
  get isOver(): boolean {
    return performance.now() - this.#since > TURN;
  }

  /** Waits for the next turn. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(begin);
    });
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}

/** Lets the one that waits longest begin. The others wait for later rounds of the loop. */
function begin(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(begin);
}
