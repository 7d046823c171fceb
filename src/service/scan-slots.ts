import { GuardError } from "../support/errors.ts";
import { CALL_ENDED, LazyAbortController } from "../support/lazy-abort-controller.ts";
import type { Admission, AdmittedScan, AdmittedStream } from "./admission/admission.ts";

/** Work that asks for a slot. */
export interface SlotRequest {
  /** What costs about the same for texts of the same length, such as `prompt`. */
  kind: string;
  /** How much text there is, in characters. */
  chars: number;
  /** Who takes turns with others for it. */
  caller: string | undefined;
  /** How long it may wait and run, in milliseconds. */
  timeout: number;
  /** A signal that is aborted when nobody waits for the result any more. */
  signal?: AbortSignal | undefined;
  /** The same where it is for this work alone. It then stops the work, for whatever reason. */
  stop?: LazyAbortController | undefined;
}

/** A slot in which a scan runs. */
export interface ScanSlot {
  /** Is aborted when nobody waits for the result any more, and when the work ends early. */
  readonly stop: LazyAbortController;
  /** Is told of work that goes on until it ends by itself. The slot is not free before that. */
  onWork(begun: Promise<unknown>): void;
}

/** The slot of a stream: it is taken as long as the stream is open. */
export interface StreamSlot extends Pick<ScanSlot, "onWork"> {
  /** Aborted when nobody waits for the stream any more. */
  readonly signal: AbortSignal;
  /** Does one step of the stream, within its timeout. What goes wrong ends the stream. */
  step<T>(chars: number, work: () => Promise<T>): Promise<T>;
  /** Gives the slot back. */
  end(reason: unknown): void;
}

/**
 * The slots of a service, in which scans wait and run; {@link Admission} says when. A scan is stopped when its time is up, when its
 * caller is gone, and when the service closes.
 */
export class ScanSlots {
  readonly #admission: Admission;
  /**
   * What stops each scan that has not ended. `AbortSignal.any` with a signal as old as the service would do the same, but the old signal
   * would keep something of every scan for as long as the service lives.
   */
  readonly #taken = new Set<LazyAbortController>();

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** How many slots are taken, by those as well that go on although nobody waits for them any more. */
  get taken(): number {
    return this.#taken.size;
  }

  /** Stops everything. */
  close(reason: unknown): void {
    for (const stop of this.#taken) stop.abort(reason);
  }

  /**
   * Runs a scan when its turn has come.
   *
   * @param scan gets what is aborted when nobody waits for the scan any more.
   * @throws GuardError `GUARD_OVERLOADED`, `GUARD_TIMEOUT`, and the reason of the caller's signal.
   */
  async run<T>({ signal, stop: own, ...asked }: SlotRequest, scan: (slot: ScanSlot) => Promise<T>): Promise<T> {
    const turn = this.#admission.admit({ ...asked, timeout: asked.timeout / 1000 });
    const { stop, work, onWork, leave } = this.#take(signal, own);
    const slot = { stop, onWork };
    const scanned = turn.isWaiting ? waitForTurn(turn, stop.signal).then(() => scan(slot)) : scan(slot);
    const done = (isComplete: boolean) =>
      whenSettled(work, () => {
        turn.end(isComplete);
        this.#taken.delete(stop);
      });
    scanned.then(
      () => done(true),
      () => done(false),
    );
    let isDone = false;
    try {
      const result = await withTimeout(scanned, asked.timeout, stop);
      isDone = work.size === 0;
      return result;
    } finally {
      leave();
      // Nobody waits for the parts of this scan that still run, so they are stopped. Where there are none, there is nothing to tell.
      if (!isDone) stop.abort(CALL_ENDED);
    }
  }

  /**
   * Takes a slot for a stream.
   *
   * @throws GuardError `GUARD_OVERLOADED`.
   */
  stream({ kind, caller, timeout, signal }: Omit<SlotRequest, "chars" | "stop">): StreamSlot {
    const hold = this.#admission.admitStream(kind, caller);
    const { stop, work, onWork, leave } = this.#take(signal);
    const free = () => {
      leave();
      whenSettled(work, () => {
        hold.release();
        this.#taken.delete(stop);
      });
    };
    stop.signal.addEventListener("abort", free, { once: true });
    if (stop.signal.aborted) free();
    return {
      signal: stop.signal,
      onWork,
      step: (chars, work) => this.#step(hold, { chars, timeout, stop }, work),
      end: (reason) => stop.abort(reason),
    };
  }

  async #step<T>(
    hold: AdmittedStream,
    { chars, timeout, stop }: { chars: number; timeout: number; stop: LazyAbortController },
    work: () => Promise<T>,
  ): Promise<T> {
    stop.throwIfAborted();
    const step = hold.step(chars);
    try {
      const done = await withTimeout(work(), timeout, stop);
      step.end(true);
      return done;
    } catch (error) {
      step.end(false);
      stop.abort(error);
      throw error;
    }
  }

  #take(caller: AbortSignal | undefined, own?: LazyAbortController): TakenSlot {
    const stop = own ?? new LazyAbortController();
    const leave = caller && !own ? stop.follow(caller) : () => {};
    this.#taken.add(stop);
    const work = new Set<Promise<unknown>>();
    const onWork = (begun: Promise<unknown>) => {
      work.add(begun);
      const onEnd = () => work.delete(begun);
      begun.then(onEnd, onEnd);
    };
    return { stop, work, onWork, leave };
  }
}

/** A slot that was taken. */
interface TakenSlot extends Pick<ScanSlot, "onWork"> {
  /** Stops what runs in it. */
  stop: LazyAbortController;
  /** What goes on in it. */
  work: ReadonlySet<Promise<unknown>>;
  /** Listens to the caller's signal no longer. */
  leave(): void;
}

/** Waits for the turn of a scan, and gives it back when the signal is aborted first. */
async function waitForTurn(turn: AdmittedScan, signal: AbortSignal): Promise<void> {
  const abandon = () => turn.abandon(signal.reason);
  signal.addEventListener("abort", abandon, { once: true });
  if (signal.aborted) abandon();
  await turn.started;
  signal.removeEventListener("abort", abandon);
}

/**
 * Gives a slot back when all that went on in it has ended. A scan that nobody waits for any more takes its slot for as long as it takes
 * memory and time, so that scanners which ignore the signal cannot be piled up.
 */
function whenSettled(work: ReadonlySet<Promise<unknown>>, free: () => void): void {
  if (work.size === 0) free();
  else void Promise.allSettled(work).then(() => whenSettled(work, free));
}

/**
 * Waits for a part of a scan, but no longer than the limit. A scanner that ignores the signal does not keep the caller waiting.
 *
 * @param stop stops the scan when the time is up.
 */
async function withTimeout<T>(work: Promise<T>, timeout: number, stop: LazyAbortController): Promise<T> {
  const timer = setTimeout(
    () => stop.abort(new GuardError("GUARD_TIMEOUT", `The scan took longer than ${timeout / 1000} s.`)),
    timeout,
  );
  try {
    return await stop.race(work);
  } finally {
    clearTimeout(timer);
  }
}
