import { readFile } from "node:fs/promises";
import { z } from "zod";
import { exceptionFields, exceptionScanners } from "../../scan/exceptions/exception.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { withFileLock, writeAtomically } from "../../support/locked-file.ts";
import { parseOptions } from "../../support/options.ts";
import type { ExceptionStore, StoredException } from "./exception-store.ts";

/** The version of the file format. */
const VERSION = 1;

const stored = z.strictObject({
  scanners: exceptionScanners,
  ...exceptionFields,
  id: z.string().min(1),
  created: z.string(),
  createdBy: z.string().nullable(),
});

const content = z.strictObject({ version: z.literal(VERSION), exceptions: z.array(stored) });

/** Parses a stored exception. */
export function parseStored(value: unknown): StoredException {
  return parseOptions(stored, value);
}

/** Keeps exceptions in a file, which only its owner can read. Several processes may share it. */
export class FileExceptions implements ExceptionStore {
  readonly kind = "file";
  readonly #file: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws GuardValidationError for a file that cannot be read. */
  async list(): Promise<readonly StoredException[]> {
    let text: string;
    try {
      text = await readFile(this.#file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return [];
      throw this.#invalid(`it cannot be read: ${code ?? "unknown error"}`, error);
    }
    try {
      return parseOptions(content, JSON.parse(text)).exceptions;
    } catch (error) {
      throw this.#invalid(error instanceof GuardValidationError ? error.message : "it is not JSON", error);
    }
  }

  put(exception: StoredException): Promise<void> {
    return this.#change((list) => [...list.filter(({ id }) => id !== exception.id), exception]);
  }

  remove(id: string): Promise<void> {
    return this.#change((list) => list.filter((exception) => exception.id !== id));
  }

  /** Changes of this process follow each other, because the temporary file of a process has one name. */
  #change(edit: (list: readonly StoredException[]) => readonly StoredException[]): Promise<void> {
    const invalid = (reason: string, cause?: unknown) => this.#invalid(reason, cause);
    const next = this.#last.then(() =>
      withFileLock(this.#file, invalid, async () => {
        const exceptions = edit(await this.list());
        await writeAtomically(this.#file, `${JSON.stringify({ version: VERSION, exceptions }, null, 2)}\n`, invalid);
      }),
    );
    this.#last = next.catch(() => {});
    return next;
  }

  #invalid(reason: string, cause?: unknown): GuardValidationError {
    return new GuardValidationError([{ path: "exceptions.file", message: `${this.#file}: ${reason}` }], { cause });
  }
}
