import { setMaxListeners } from "node:events";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { closedError, GuardError } from "../support/errors.ts";
import { awaitInOrder } from "../support/promises.ts";
import type { ScanServiceOptions } from "./service-types.ts";

/** Loads the scanners of a service, tests them periodically, and knows whether scans are possible. */
export class Readiness {
  readonly #scanners: readonly NamedScanner[];
  readonly #options: Pick<ScanServiceOptions, "lazyLoad" | "selfTest" | "selfTestInterval">;
  /** Ends loading and self-tests when the service closes. */
  readonly #closed = new AbortController();
  readonly #onFailedSelfTest = new Set<(error: unknown) => void>();
  #interval: NodeJS.Timeout | undefined;
  #error: GuardError | undefined;

  constructor(scanners: readonly NamedScanner[], options: ScanServiceOptions) {
    // Each scanner listens while it loads. By default, Node.js warns about a leak from the eleventh listener on.
    setMaxListeners(0, this.#closed.signal);
    this.#scanners = scanners;
    this.#options = options;
    this.#error = options.lazyLoad
      ? undefined
      : new GuardError("GUARD_STARTING", "The service is starting: its models are being loaded.");
  }

  /** The reason why no scan is possible now, or undefined when scans are possible. */
  get error(): GuardError | undefined {
    return this.#closed.signal.aborted ? closedError() : this.#error;
  }

  /** Calls a listener with the reason when a self-test fails. */
  onFailedSelfTest(listener: (error: unknown) => void): void {
    this.#onFailedSelfTest.add(listener);
  }

  /**
   * Loads all scanners concurrently, and starts the self-tests.
   *
   * @param isBusy whether a self-test should wait, because callers have priority.
   * @throws GuardError `GUARD_SCANNER` if a scanner cannot be loaded or a self-test fails.
   */
  async load(isBusy: () => boolean): Promise<void> {
    if (!this.#options.lazyLoad) await this.#loadScanners();
    if (this.#isClosed) return;
    await this.selfTest();
    this.#error = undefined;
    const { selfTestInterval = 0 } = this.#options;
    if (selfTestInterval === 0) return;
    let isTesting = false;
    this.#interval = setInterval(async () => {
      if (isTesting || isBusy()) return;
      isTesting = true;
      await this.selfTest().catch(() => undefined);
      isTesting = false;
    }, selfTestInterval).unref();
  }

  /**
   * Checks that scanners give known texts the expected verdicts. After a failure the service refuses all further scans, because damaged
   * memory or a damaged processor may cause errors that no known text reveals. A self-test that a full queue rejects has no effect.
   *
   * @throws GuardError `GUARD_SCANNER` if a verdict differs.
   */
  async selfTest(): Promise<void> {
    const { signal } = this.#closed;
    try {
      await this.#options.selfTest?.(signal);
      for (const scanner of new Set(this.#scanners.map(({ scanner }) => scanner))) await scanner.selfTest?.(signal);
    } catch (error) {
      if (this.#isClosed || (error instanceof GuardError && error.code === "GUARD_OVERLOADED")) return;
      clearInterval(this.#interval);
      this.#error = new GuardError(
        "GUARD_UNAVAILABLE",
        "A self-test failed: a scanner gives a known text a wrong verdict. The service refuses scans until it is restarted.",
      );
      for (const listener of this.#onFailedSelfTest) listener(error);
      throw new GuardError("GUARD_SCANNER", `a self-test failed: ${(error as Error)?.message}`, { cause: error });
    }
  }

  close(reason: unknown): void {
    clearInterval(this.#interval);
    this.#closed.abort(reason);
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  async #loadScanners(): Promise<void> {
    const loading = this.#scanners.map(async ({ name, scanner }) => {
      try {
        await scanner.load?.(this.#closed.signal);
      } catch (error) {
        if (this.#isClosed) return;
        this.#error = new GuardError("GUARD_UNAVAILABLE", `The scanner ${name} could not be loaded.`);
        throw new GuardError("GUARD_SCANNER", `${name} could not be loaded: ${(error as Error)?.message}`, {
          cause: error,
        });
      }
    });
    await awaitInOrder(loading);
  }
}
