import { Bag } from "../support/bag.ts";
import { GuardError } from "../support/errors.ts";
import { CALL_ENDED, LazyAbortController } from "../support/lazy-abort-controller.ts";
import type { Admission, AdmittedScan, AdmittedStream } from "./admission/admission.ts";

/** A request for a slot. */
export interface SlotRequest {
  /** The kind of work, such as `prompt`. The cost of a kind depends on the length of the text. */
  kind: string;
  /** The length of the text in characters. */
  chars: number;
  /** The caller, for fair queueing. */
  caller: string | undefined;
  /** The time limit in milliseconds, including the wait. */
  timeout: number;
  /** Aborted when nobody waits for the result any more. */
  signal?: AbortSignal | undefined;
  /** A controller for this work alone, instead of {@link signal}. Aborting it stops the work. */
  stop?: LazyAbortController | undefined;
}

/** A slot in which a scan runs. */
export interface ScanSlot {
  /** Aborted when nobody waits for the result any more, and when the work ends early. */
  readonly stop: LazyAbortController;
  /** Registers work that may outlive the scan. The slot is freed when all registered work has ended. */
  onWork(begun: Promise<unknown>): void;
}

/** The slot of a stream, which is occupied until the stream ends. */
export interface StreamSlot extends Pick<ScanSlot, "onWork"> {
  /** Aborted when nobody waits for the stream any more. */
  readonly signal: AbortSignal;
  /** Runs one step of the stream within the timeout. An error ends the stream. */
  step<T>(chars: number, work: () => Promise<T>): Promise<T>;
  /** Frees the slot. */
  end(reason: unknown): void;
}

/**
 * The slots of a service in which scans wait and run. {@link Admission} decides when a scan starts. A scan is stopped when it exceeds
 * its time limit, when its caller disconnects, and when the service closes.
 */
export class ScanSlots {
  readonly #admission: Admission;
  /**
   * The controllers of all scans that have not ended. `AbortSignal.any` with one signal for the whole service would do the same, but
   * that signal would retain memory of every scan until the service closes.
   */
  readonly #taken = new Bag<LazyAbortController>();

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** The number of occupied slots, including scans that still run although nobody waits for them any more. */
  get taken(): number {
    return this.#taken.size;
  }

  /** Stops all scans. */
  close(reason: unknown): void {
    for (const stop of this.#taken) stop.abort(reason);
  }

  /**
   * Runs a scan once it is admitted.
   *
   * @param scan receives the slot, whose signal is aborted when nobody waits for the scan any more.
   * @throws GuardError `GUARD_OVERLOADED`, `GUARD_TIMEOUT`, and the reason of the caller's signal.
   */
  async run<T>({ signal, stop: own, ...asked }: SlotRequest, scan: (slot: ScanSlot) => Promise<T>): Promise<T> {
    const turn = this.#admission.admit({ ...asked, timeout: asked.timeout / 1000 });
    const { stop, work, onWork, leave, remove } = this.#take(signal, own);
    const slot = { stop, onWork };
    const scanned = turn.isWaiting ? waitForTurn(turn, stop.signal).then(() => scan(slot)) : scan(slot);
    const done = (isComplete: boolean) =>
      whenSettled(work, () => {
        turn.end(isComplete);
        remove();
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
      // Parts of this scan may still run although nobody waits for them. If there are none, abort listeners need not run.
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
    const { stop, work, onWork, leave, remove } = this.#take(signal);
    const onAbort = () => {
      leave();
      whenSettled(work, () => {
        hold.release();
        remove();
      });
    };
    stop.signal.addEventListener("abort", onAbort, { once: true });
    if (stop.signal.aborted) onAbort();
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
    const remove = this.#taken.add(stop);
    const work = new Set<Promise<unknown>>();
    const onWork = (begun: Promise<unknown>) => {
      work.add(begun);
      const onEnd = () => work.delete(begun);
      begun.then(onEnd, onEnd);
    };
    return { stop, work, onWork, leave, remove };
  }
}

/** An occupied slot. */
interface TakenSlot extends Pick<ScanSlot, "onWork"> {
  /** Stops the work in the slot. */
  stop: LazyAbortController;
  /** The registered work that has not ended. */
  work: ReadonlySet<Promise<unknown>>;
  /** Stops listening to the caller's signal. */
  leave(): void;
  /** Takes the slot from the occupied ones. */
  remove(): void;
}

/** Waits until a scan may start, and abandons the wait if the signal is aborted first. */
async function waitForTurn(turn: AdmittedScan, signal: AbortSignal): Promise<void> {
  const abandon = () => turn.abandon(signal.reason);
  signal.addEventListener("abort", abandon, { once: true });
  if (signal.aborted) abandon();
  await turn.started;
  signal.removeEventListener("abort", abandon);
}

/**
 * Frees a slot when all work in it has ended. A scan that nobody waits for any more occupies its slot as long as it uses memory and
 * CPU time. Otherwise scanners that ignore the signal could pile up.
 */
function whenSettled(work: ReadonlySet<Promise<unknown>>, free: () => void): void {
  if (work.size === 0) free();
  else void Promise.allSettled(work).then(() => whenSettled(work, free));
}

/**
 * Waits for a part of a scan, up to the time limit. The caller need not wait for a scanner that ignores the signal.
 *
 * @param stop stops the scan at the time limit.
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
