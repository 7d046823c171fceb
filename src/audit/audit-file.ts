import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { AuditSink } from "./audit-log.ts";
import { type Head, headOf, START } from "./chain.ts";

export interface AuditFileOptions {
  file: string;
  /** Bytes after which the file is rotated to `FILE.1`. */
  maxSize: number;
  /** Number of rotated files to keep. */
  keep: number;
}

/** Bytes at the end of a file that are searched for its last record. Records are shorter, because their findings are limited. */
const TAIL_BYTES = 1024 * 1024;

/**
 * Appends records to a file that no other process writes to, with rotation: a large file becomes `FILE.1`, the one before it `FILE.2`, and
 * so on. The chain continues across files. Only the owner can read them.
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
        // A process that was killed left a partial line, which stays as evidence.
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
    if (ino !== own || size !== this.#size) throw new Error("another process has changed the audit file");
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    try {
      await handle.appendFile(bytes);
    } catch (error) {
      // A full disk may have stored a part of the bytes.
      await handle.truncate(this.#size).catch(() => {});
      throw error;
    }
    this.#size += bytes.length;
    this.#head = headOf(lines.at(-1) as string) as Head;
    if (this.#size > maxSize) await this.#rotate();
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Rotates the files. The records are written already, so errors must not fail them. */
  async #rotate(): Promise<void> {
    const { file, keep } = this.#options;
    try {
      const taken = new Set((await rotatedFiles(file)).map(({ number }) => number));
      // A process that was killed in a rotation leaves a free number.
      let free = 1;
      while (free < keep && taken.has(free)) free++;
      for (let number = free - 1; number >= 1; number--) await rename(`${file}.${number}`, `${file}.${number + 1}`);
      await rename(file, `${file}.1`);
      for (const number of taken) if (number > keep) await rm(`${file}.${number}`, { force: true });
      const next = await open(file, "ax", 0o600);
      await this.#handle?.close();
      this.#handle = next;
      this.#size = 0;
    } catch {
      // The next write checks the file, and rotates again.
    }
  }
}

/** Lists the rotated files of a log file with their numbers, the oldest first. Numbers may be missing. */
export async function rotatedFiles(file: string): Promise<{ path: string; number: number }[]> {
  const start = `${basename(file)}.`;
  const numbers = (await readdir(dirname(file)))
    .filter((name) => name.startsWith(start) && /^[1-9]\d*$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)));
  return numbers.sort((a, b) => b - a).map((number) => ({ path: `${file}.${number}`, number }));
}

/** Finds the last complete record of a file, and whether the file ends with a line break. */
async function lastRecord(handle: FileHandle, size: number): Promise<{ head: Head | undefined; isWhole: boolean }> {
  const length = Math.min(size, TAIL_BYTES);
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
