import type { Exception } from "../../scan/exceptions/exception.ts";

/** An exception that was added at run time. */
export interface StoredException extends Exception {
  /** When it was added. */
  readonly created: string;
  /** The credential that added it. Null without authentication. */
  readonly createdBy: string | null;
}

/** Where exceptions of the run time are kept. */
export interface ExceptionStore {
  readonly kind: "memory" | "file" | "redis";
  /** Returns all exceptions. Undefined if the store does not respond: what is known stays in effect. */
  list(): Promise<readonly StoredException[] | undefined>;
  /**
   * Adds an exception, or replaces the one with its id.
   *
   * @throws GuardError if it cannot be kept.
   */
  put(exception: StoredException): Promise<void>;
  /** @throws GuardError if it cannot be removed. */
  remove(id: string): Promise<void>;
}

/** The exceptions in the memory of a process. They are lost when it ends. */
export class MemoryExceptions implements ExceptionStore {
  readonly kind = "memory";
  readonly #byId = new Map<string, StoredException>();

  async list(): Promise<readonly StoredException[]> {
    return [...this.#byId.values()];
  }

  async put(exception: StoredException): Promise<void> {
    this.#byId.set(exception.id, exception);
  }

  async remove(id: string): Promise<void> {
    this.#byId.delete(id);
  }
}
