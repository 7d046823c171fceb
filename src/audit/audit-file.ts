import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import type { AuditSink } from "./audit-log.ts";
import { type Head, headOf, START } from "./chain.ts";

/** A file of records, and when it is put aside. */
export interface AuditFileOptions {
  file: string;
  /** The bytes after which it is put aside as `FILE.1`. */
  maxSize: number;
  /** How many files that were put aside are kept. */
  keep: number;
}

/** How much of the end of a file is read to find its last record. Records are shorter: their findings are limited. */
const TAIL = 1024 * 1024;

/**
 * Appends records to a file that nobody else writes to. A file that is too large becomes `FILE.1`, the one before it `FILE.2`, and so on;
 * the chain goes on over all of them. Nobody but the owner can read the file.
 */
export class AuditFile implements AuditSink {
  readonly #options: AuditFileOptions;
  #handle: FileHandle | undefined;
  #size = 0;
  #head: Head = START;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  async open(): Promise<Head> {
    await this.close();
    const { file } = this.#options;
    const handle = await open(file, "a+", 0o600);
    try {
      const { size } = await handle.stat();
      const { head, isWhole } = await lastRecord(handle, size);
      this.#size = size;
      if (!isWhole) {
        // A process that was killed while it wrote left a part of a line, which stays for whoever checks the file.
        await handle.appendFile("\n");
        this.#size += 1;
      }
      this.#head = head ?? (await headOfFile(`${file}.1`));
      this.#handle = handle;
      return this.#head;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async write(lines: readonly string[]): Promise<void> {
    const { file, maxSize } = this.#options;
    const handle = this.#handle;
    if (!handle) throw new Error("the audit file is not open");
    const { ino } = await stat(file);
    const { size, ino: own } = await handle.stat();
    if (ino !== own || size !== this.#size) throw new Error("somebody else moved, cut or wrote to the audit file");
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    try {
      await handle.appendFile(bytes);
    } catch (error) {
      // A full disk may have taken a part of it.
      await handle.truncate(this.#size).catch(() => {});
      throw error;
    }
    this.#size += bytes.length;
    this.#head = headOf(lines.at(-1) as string) as Head;
    if (this.#size > maxSize) await this.#putAside();
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Puts the file aside. The records are written already, so that what goes wrong here must not count against them. */
  async #putAside(): Promise<void> {
    const { file, keep } = this.#options;
    try {
      await rm(`${file}.${keep}`, { force: true });
      for (let number = keep - 1; number >= 1; number--) {
        await rename(`${file}.${number}`, `${file}.${number + 1}`).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        });
      }
      await rename(file, `${file}.1`);
      const next = await open(file, "ax", 0o600);
      await this.#handle?.close();
      this.#handle = next;
      this.#size = 0;
    } catch {
      // The next write finds out whether the file is still there, and tries again.
    }
  }
}

/** The last whole record of a file, and whether the file ends with a line break. */
async function lastRecord(handle: FileHandle, size: number): Promise<{ head: Head | undefined; isWhole: boolean }> {
  const length = Math.min(size, TAIL);
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  const text = buffer.toString();
  const head = text
    .split("\n")
    .reverse()
    .map(headOf)
    .find((found) => found !== undefined);
  return { head, isWhole: size === 0 || text.endsWith("\n") };
}

async function headOfFile(file: string): Promise<Head> {
  let handle: FileHandle;
  try {
    handle = await open(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return START;
    throw error;
  }
  try {
    return (await lastRecord(handle, (await handle.stat()).size)).head ?? START;
  } finally {
    await handle.close();
  }
}
