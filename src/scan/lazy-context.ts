import type { LazyAbortController } from "../support/lazy-abort-controller.ts";
import type { ScanContext, Scanner } from "./scanner.ts";

/**
 * A context that creates its signal lazily, because creating a signal takes longer than rules need for a short text. It is a class, because
 * V8 is slow with accessors in object literals. A copy of it, such as `{ ...context }`, has no signal.
 */
export class LazyContext {
  readonly #stop: LazyAbortController;

  constructor(context: ScanContext, stop: LazyAbortController) {
    Object.assign(this, context);
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }
}

/** The `scan` methods that never copy their context. A class that overrides `scan` has a different method. */
const lazyScans = new WeakSet<Scanner["scan"]>();

/** Declares that a `scan` method never copies its context, so that it may receive a {@link LazyContext}. */
export function acceptLazyContext(scan: Scanner["scan"]): void {
  lazyScans.add(scan);
}

/** Adds the signal of a controller to the context of a scanner. */
export function withSignal(scanner: Scanner, context: ScanContext, stop: LazyAbortController): ScanContext {
  if (lazyScans.has(scanner.scan)) return new LazyContext(context, stop);
  return Object.assign(context, { signal: stop.signal });
}
