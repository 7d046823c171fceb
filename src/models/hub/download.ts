import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { GuardError } from "../../support/errors.ts";
import { type HubFile, openHubFile, type ReadFrom } from "./client.ts";
import { type HubId, hubName } from "./hub-id.ts";
import { downloadError, type HubSettings, Retries } from "./requests.ts";

/*
 * The official client can put a file into the cache by itself (`downloadFileToCacheDir`). As of @huggingface/hub 2.17 it cannot
 * be used, and test/models/hub/official-client.isolated.test.ts shows why:
 *
 * - It checks neither the size nor the hash of what arrives, so a damaged file becomes a model.
 * - A download that broke off begins anew.
 * - All processes write to the same `<etag>.incomplete` without a lock, so of two that download at once the second truncates the
 *   file that the first puts in place. (Hugging Face's Python library gives each process a file of its own for that reason:
 *   https://github.com/huggingface/huggingface_hub/pull/4228.)
 * - It writes to standard output, which belongs to the results of `guard`.
 *
 * Therefore only its `downloadFile` is used, and the bytes are put in place here.
 */

/** The ending of the names of partial files. */
const INCOMPLETE = "incomplete";
/** The part of the name of a partial file that no process writes to. */
const FREE = "guard-free";
/**
 * A partial file that another machine wrote counts as abandoned when nothing has been written to it for this many milliseconds.
 */
const ABANDONED_MS = 24 * 3600 * 1000;

let count = 0;
/** The names of the partial files that this process writes to. */
const written = new Set<string>();

/** A file of a repository that is being downloaded. */
export interface Download {
  id: HubId;
  settings: HubSettings;
  commit: string;
  file: HubFile;
  /** The folder of contents in the cache. */
  blobs: string;
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes that have arrived, whenever that number changes. */
  onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Downloads the content of a file into the folder of contents, unless it is there, and resumes what an earlier attempt left. It
 * appears under its name only after it is complete and its hash has been checked.
 *
 * @returns the path of the content.
 * @throws GuardError `GUARD_DOWNLOAD` when the file cannot be downloaded, or its hash is not the one that the hub states;
 *   the reason of the signal when it is aborted.
 */
export async function downloadFile(download: Download): Promise<string> {
  const { file, blobs } = download;
  const { etag } = file;
  const target = join(blobs, etag);
  if (await isThere(target, file.size)) return target;
  await mkdir(blobs, { recursive: true });
  const part = await claim(blobs, etag);
  try {
    for (;;) {
      const resumed = await receive(download, join(blobs, part));
      if (await isIntact(join(blobs, part), file)) break;
      await rm(join(blobs, part));
      if (!resumed)
        throw downloadError(`${hubName(download.id)}: ${file.path} is not what the hub says: its hash differs`);
    }
    await rename(join(blobs, part), target).catch(async (error) => {
      // Windows does not replace a file that another process has open. In that case the other process has put the same file
      // there.
      if (!(await isThere(target, file.size))) throw error;
      await rm(join(blobs, part), { force: true });
    });
    return target;
  } catch (error) {
    await rename(join(blobs, part), join(blobs, `${etag}.${FREE}.${INCOMPLETE}`)).catch(() => {});
    throw error;
  } finally {
    written.delete(part);
  }
}

async function isThere(path: string, size: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === size;
}

/**
 * Chooses a name for a partial file that no other process uses. A partial file that an earlier attempt left is taken over by
 * renaming it, because a rename succeeds for one process only. Those of other tools are left alone.
 */
async function claim(folder: string, etag: string): Promise<string> {
  count += 1;
  const mine = `${etag}.guard-${hostname()}.${process.pid}.${count}.${INCOMPLETE}`;
  written.add(mine);
  for (const other of await readdir(folder)) {
    if (!other.startsWith(`${etag}.guard-`) || written.has(other) || !(await isLeft(folder, other))) continue;
    const isMine = await rename(join(folder, other), join(folder, mine)).then(
      () => true,
      () => false,
    );
    if (isMine) break;
  }
  return mine;
}

/** Tells whether the process that wrote a partial file has ended. */
async function isLeft(folder: string, part: string): Promise<boolean> {
  if (part.endsWith(`.${FREE}.${INCOMPLETE}`)) return true;
  const [, host, pid] = /^[^.]+\.guard-(.*)\.(\d+)\.\d+\.incomplete$/.exec(part) ?? [];
  if (host !== hostname()) {
    const found = await stat(join(folder, part)).catch(() => undefined);
    return found !== undefined && Date.now() - found.mtimeMs > ABANDONED_MS;
  }
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/**
 * Receives the missing bytes of a partial file.
 *
 * @returns whether some bytes were there before.
 */
async function receive(download: Download, part: string): Promise<boolean> {
  const { id, settings, commit, file, signal, onBytes } = download;
  const handle = await open(part, "a+");
  try {
    let have = (await handle.stat()).size;
    if (have > file.size) {
      await handle.truncate(0);
      have = 0;
    }
    const resumed = have > 0;
    const retries = new Retries();
    const read = await openHubFile(id, settings, commit, file, { retries, signal });
    onBytes?.(have);
    while (have < file.size) {
      const broken = await append(handle, read, have, (bytes) => {
        have += bytes;
        retries.progressed();
        onBytes?.(have);
        return have <= file.size;
      });
      signal?.throwIfAborted();
      if (have > file.size) throw downloadError(`${hubName(id)}: ${file.path} is longer than the hub says`);
      if (have === file.size) break;
      const error = downloadError(
        `${hubName(id)}: the connection broke off after ${have} of ${file.size} bytes of ${file.path}`,
        broken,
      );
      await retries.wait(error, undefined, signal);
    }
    await handle.sync();
    return resumed;
  } finally {
    await handle.close();
  }
}

/**
 * Appends the bytes of a file from the given one on, until `onBytes` returns false.
 *
 * @returns the error of the network, if there was one. Failures to write and refusals of the hub are thrown.
 */
async function append(
  handle: FileHandle,
  read: ReadFrom,
  first: number,
  onBytes: (bytes: number) => boolean,
): Promise<unknown> {
  const chunks = read(first);
  for (;;) {
    let chunk: IteratorResult<Uint8Array, void>;
    try {
      chunk = await chunks.next();
    } catch (error) {
      if (error instanceof GuardError) throw error;
      return error;
    }
    if (chunk.done) return undefined;
    await handle.appendFile(chunk.value);
    if (onBytes(chunk.value.length)) continue;
    await chunks.return();
    return undefined;
  }
}

/** Tells whether a file has the size and the hash that the hub states. */
async function isIntact(path: string, { size, etag }: HubFile): Promise<boolean> {
  if ((await stat(path)).size !== size) return false;
  // Git hashes a header before the content: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
  const hash = etag.length === 64 ? createHash("sha256") : createHash("sha1").update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex") === etag;
}
