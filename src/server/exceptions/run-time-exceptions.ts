import { isDeepStrictEqual } from "node:util";
import type { FastifyBaseLogger } from "fastify";
import type { Exceptions } from "../../scan/exceptions/exceptions.ts";
import { GuardValidationError } from "../../support/errors.ts";
import type { ExceptionStore, StoredException } from "./exception-store.ts";

/** The maximum number of exceptions of the run time. Every failing check is compared with all of them. */
const MAX_EXCEPTIONS = 1000;

/** How often the exceptions of other instances are read, in milliseconds. */
const REFRESH_MS = 1000;

export interface RunTimeExceptionsOptions {
  store: ExceptionStore;
  /** The exceptions of all services. */
  targets: readonly Exceptions[];
  log: Pick<FastifyBaseLogger, "error" | "info">;
  /** Makes the other processes of the server read the store again. */
  announce(): Promise<void>;
}

/** The exceptions that were added at run time. They are in effect in all services, and kept in a store. */
export class RunTimeExceptions {
  readonly #options: RunTimeExceptionsOptions;
  #known: readonly StoredException[] = [];
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  constructor(options: RunTimeExceptionsOptions) {
    this.#options = options;
  }

  get kind(): ExceptionStore["kind"] {
    return this.#options.store.kind;
  }

  /**
   * Reads the store, and then again every second if other instances may change it.
   *
   * @throws GuardValidationError for a file that cannot be read.
   */
  async start(): Promise<void> {
    const { store, log } = this.#options;
    const exceptions = await store.list();
    if (exceptions) this.#apply(exceptions);
    if (exceptions && exceptions.length > 0) {
      log.info(
        { exceptions: exceptions.length, kept: store.kind },
        "exceptions that were added at run time are in effect",
      );
    }
    if (store.kind === "memory") return;
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get all(): readonly StoredException[] {
    return this.#known;
  }

  /** Reads the store now. It never rejects: if the store fails, what is known stays in effect. */
  async refresh(): Promise<void> {
    // A read that is in progress may have begun before the latest change.
    await this.#refreshing;
    this.#refreshing = this.#read();
    await this.#refreshing;
  }

  async #read(): Promise<void> {
    const { store, log } = this.#options;
    try {
      const exceptions = await store.list();
      if (exceptions) this.#apply(exceptions);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        log.error({ reason: (error as Error).message }, "the exceptions cannot be read: the old ones stay in effect");
      this.#hasFailed = true;
    }
  }

  /** @throws GuardValidationError if an exception with this id would be one too many. */
  assertRoomFor(id: string): void {
    if (this.#known.length < MAX_EXCEPTIONS || this.#known.some((known) => known.id === id)) return;
    const message = `there are ${MAX_EXCEPTIONS} exceptions already: remove expired ones`;
    throw new GuardValidationError([{ path: "", message }]);
  }

  /** @throws GuardError if it cannot be kept. It is not in effect then. */
  async add(exception: StoredException): Promise<void> {
    await this.#options.store.put(exception);
    await this.#spread();
  }

  /** @throws GuardError if it cannot be removed. It stays in effect then. */
  async remove(id: string): Promise<void> {
    await this.#options.store.remove(id);
    await this.#spread();
  }

  async #spread(): Promise<void> {
    await this.refresh();
    await this.#options.announce();
  }

  #apply(exceptions: readonly StoredException[]): void {
    if (isDeepStrictEqual(exceptions, this.#known)) return;
    this.#known = exceptions;
    for (const target of this.#options.targets) target.set("run time", exceptions);
  }
}
