import type { MaybeAsync } from "../support/maybe-async.ts";
import type { ScanContext, Scanner, ScannerVerdict } from "./scanner.ts";

/**
 * Rules judge a short text in two microseconds, and a promise costs as much. Own scanners therefore register a function that returns the
 * verdict itself where nothing has to be waited for. Only this module, `TextScan` and `defineScanner` know of it: everybody else calls
 * `Scanner.scan`.
 */
type SynchronousScan = (scanner: Scanner, text: string, context: ScanContext) => MaybeAsync<ScannerVerdict>;

/** The functions by the `scan` that they stand for. A class that overrides `scan` has another `scan`, so its own method is called. */
const synchronousScans = new WeakMap<Scanner["scan"], SynchronousScan>();

/** Registers a function that does what a `scan` method does and may return the verdict itself. */
export function registerSynchronousScan(scan: Scanner["scan"], synchronous: SynchronousScan): void {
  synchronousScans.set(scan, synchronous);
}

/**
 * Runs a scanner, and returns the verdict itself if the scanner has it at once.
 *
 * @param signalOf creates the signal of the call. Synchronous scanners rarely read it, so they get a context that creates it lazily.
 *   Other scanners may copy the context and get the signal itself. Without it the context has no signal.
 */
export function startScan(
  scanner: Scanner,
  text: string,
  context: ScanContext,
  signalOf: (() => AbortSignal) | undefined,
): MaybeAsync<ScannerVerdict> {
  const synchronous = synchronousScans.get(scanner.scan);
  try {
    if (synchronous) return synchronous(scanner, text, signalOf ? new LazyContext(context, signalOf) : context);
    return scanner.scan(text, signalOf ? Object.assign(context, { signal: signalOf() }) : context);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** A context whose signal is created when a scanner reads it. A class, because V8 is slow with accessors in object literals. */
class LazyContext {
  #signal: AbortSignal | undefined;
  readonly #create: () => AbortSignal;

  constructor(context: ScanContext, create: () => AbortSignal) {
    Object.assign(this, context);
    this.#create = create;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#create();
    return this.#signal;
  }
}
