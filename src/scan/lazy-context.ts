import type { ScanContext, Scanner } from "./scanner.ts";

/**
 * A context that creates its signal lazily, because creating a signal takes longer than rules need for a short text. It is a class, because
 * V8 is slow with accessors in object literals. A copy of it, such as `{ ...context }`, has no signal.
 */
export class LazyContext {
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

/** The `scan` methods that never copy their context. A class that overrides `scan` has a different method. */
const lazyScans = new WeakSet<Scanner["scan"]>();

/** Declares that a `scan` method never copies its context, so that it may receive a {@link LazyContext}. */
export function acceptLazyContext(scan: Scanner["scan"]): void {
  lazyScans.add(scan);
}

/** Adds a signal to the context of a scanner. */
export function withSignal(scanner: Scanner, context: ScanContext, signalOf: () => AbortSignal): ScanContext {
  if (lazyScans.has(scanner.scan)) return new LazyContext(context, signalOf);
  return Object.assign(context, { signal: signalOf() });
}
