import { open, rename, rm, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** The age at which a lock counts as abandoned, and how long to wait for a lock, in milliseconds. */
const MAX_LOCK_AGE = 5_000;
const LOCK_TIMEOUT = 15_000;

/**
 * Writes a file that only its owner can read, atomically: readers see the old content or the new one.
 *
 * @param invalid makes the error for a reason, such as `it cannot be written: EACCES`.
 */
export async function writeAtomically(
  file: string,
  content: string,
  invalid: (reason: string, cause: unknown) => Error,
): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // A killed process may have left a file of this name.
    await rm(temporary, { force: true });
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw invalid(cannotWrite(error), error);
  }
}

/**
 * Runs a function while no other process changes a file.
 *
 * @param invalid makes the error for a reason.
 */
export async function withFileLock<T>(
  file: string,
  invalid: (reason: string, cause?: unknown) => Error,
  work: () => Promise<T>,
): Promise<T> {
  const lock = `${file}.lock`;
  const end = Date.now() + LOCK_TIMEOUT;
  for (;;) {
    try {
      await (await open(lock, "wx", 0o600)).close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw invalid(cannotWrite(error), error);
      const age = Date.now() - ((await stat(lock).catch(() => undefined))?.mtimeMs ?? Date.now());
      if (age > MAX_LOCK_AGE) await rm(lock, { force: true });
      else if (Date.now() > end) throw invalid(`another process holds ${lock}`);
      else await sleep(20);
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

function cannotWrite(error: unknown): string {
  return `it cannot be written: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`;
}
