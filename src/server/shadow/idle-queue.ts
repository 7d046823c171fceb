/** Work that waits for an idle moment. */
export interface IdleWork {
  /** How much memory it holds while it waits and runs, in characters. */
  chars: number;
  /** Does it. What goes wrong is its own concern. It ends soon when the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Is called in place of `run`, or while it runs, when it is given up. */
  drop(): void;
}

/** The limits of an {@link IdleQueue}. */
export interface IdleQueueOptions {
  /** Whether nothing else needs the machine, so that work may begin. */
  isIdle(): boolean;
  /** Whether something else needs the machine so much that work which runs is given up. */
  isBusy(): boolean;
  /** The most pieces of work that run at a time. */
  maxRunning: number;
  /** The most pieces of work that wait or run, and the most characters that they hold. */
  maxWaiting: number;
  maxChars: number;
  /** Calls a function every so many milliseconds, and returns a function that ends this. */
  repeat?(look: () => void, milliseconds: number): () => void;
}

/** A place in an {@link IdleQueue}. */
export interface IdlePlace {
  /** Lets the work run when there is time. */
  begin(): void;
}

/** How often what waits or runs is looked at, in milliseconds. */
const LOOK = 50;

/**
 * Does work while nothing else has to be done. It takes no more than a bounded number of pieces, and gives up what runs when something else
 * needs the machine.
 */
export class IdleQueue {
  readonly #options: Required<IdleQueueOptions>;
  readonly #ready: IdleWork[] = [];
  readonly #running = new Map<IdleWork, AbortController>();
  #taken = 0;
  #chars = 0;
  #isClosed = false;
  #stopLooking: (() => void) | undefined;

  constructor({ repeat = repeated, ...options }: IdleQueueOptions) {
    this.#options = { ...options, repeat };
  }

  /** How many pieces of work wait or run. */
  get size(): number {
    return this.#taken;
  }

  /**
   * Takes a place for work that begins later.
   *
   * @returns undefined where there is no room for it. It was not dropped then: nobody has taken it.
   */
  take(work: IdleWork): IdlePlace | undefined {
    const { maxWaiting, maxChars } = this.#options;
    if (this.#isClosed || this.#taken >= maxWaiting || this.#chars + work.chars > maxChars) return undefined;
    this.#taken += 1;
    this.#chars += work.chars;
    return {
      begin: () => {
        if (this.#isClosed) return this.#giveUp(work);
        this.#ready.push(work);
        // Not at once: clients that wait for one answer before they ask again ask now.
        this.#stopLooking ??= this.#options.repeat(() => this.look(), LOOK);
      },
    };
  }

  /** Begins what may run now, or gives up what runs when it has to make room. */
  look(): void {
    const { isIdle, isBusy, maxRunning } = this.#options;
    if (this.#isClosed) return;
    if (isBusy()) for (const [work, stop] of this.#running) this.#giveUp(work, stop);
    while (this.#running.size < maxRunning && isIdle()) {
      const work = this.#ready.shift();
      if (!work) break;
      this.#run(work);
    }
    if (this.#ready.length + this.#running.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  /** Drops what waits and runs, and takes nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#stopLooking?.();
    for (const [work, stop] of this.#running) this.#giveUp(work, stop);
    for (const work of this.#ready.splice(0)) this.#giveUp(work);
  }

  #run(work: IdleWork): void {
    const stop = new AbortController();
    this.#running.set(work, stop);
    const done = () => {
      // Work that was given up has left already.
      if (!this.#running.delete(work)) return;
      this.#leave(work);
      this.look();
    };
    work.run(stop.signal).then(done, done);
  }

  #giveUp(work: IdleWork, stop?: AbortController): void {
    this.#running.delete(work);
    this.#leave(work);
    work.drop();
    stop?.abort();
  }

  #leave(work: IdleWork): void {
    this.#taken -= 1;
    this.#chars -= work.chars;
  }
}

function repeated(look: () => void, milliseconds: number): () => void {
  const timer = setInterval(look, milliseconds).unref();
  return () => clearInterval(timer);
}
