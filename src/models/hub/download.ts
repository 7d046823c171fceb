import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { GuardError } from "../../support/errors.ts";
import { type FileReader, type HubFile, openHubFile } from "./client.ts";
import { formatHubId, type HubId } from "./hub-id.ts";
import { downloadError, type HubSettings, Retries } from "./requests.ts";

/*
 * The official client can put a file into the cache by itself (`downloadFileToCacheDir`). As of @huggingface/hub 2.17 it cannot
 * be used, and test/models/hub/official-client.isolated.test.ts shows why:
 *
 * - It verifies neither size nor hash, so a corrupt file becomes a model.
 * - An interrupted download restarts from the beginning.
 * - All processes write to the same `<etag>.incomplete` without a lock, so of two concurrent downloads, the second truncates the
 *   file that the first has completed. (Hugging Face's Python library gives each process a file of its own for that reason:
 *   https://github.com/huggingface/huggingface_hub/pull/4228.)
 * - It writes to standard output, which belongs to the results of `guard`.
 *
 * Therefore guard uses only its `downloadFile`, and writes the cache itself.
 */

/** The suffix of partial files. */
const INCOMPLETE = "incomplete";
/** Marks a partial file that no process writes to. */
const FREE = "guard-free";
/** A partial file from another machine counts as abandoned after this many milliseconds without a write. */
const ABANDONED_MS = 24 * 3600 * 1000;

let count = 0;
/** The partial files that this process writes to. */
const written = new Set<string>();

/** A download of one file of a repository. */
export interface Download {
  id: HubId;
  settings: HubSettings;
  commit: string;
  file: HubFile;
  /** The folder `blobs` of the repository in the cache. */
  blobs: string;
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes so far, whenever it changes. */
  onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Downloads the content of a file into `blobs`, unless it is there, and resumes an earlier attempt. The content gets its final name only
 * after it is complete and its hash is verified.
 *
 * @returns the path of the content.
 * @throws GuardError `GUARD_DOWNLOAD` if the download fails or the hash differs; the reason of the signal if it is aborted.
 */
export async function downloadFile(download: Download): Promise<string> {
  const { file, blobs } = download;
  const { etag } = file;
  const target = join(blobs, etag);
  if (await hasSize(target, file.size)) return target;
  await mkdir(blobs, { recursive: true });
  const part = await claimPartialFile(blobs, etag);
  try {
    for (;;) {
      const resumed = await receive(download, join(blobs, part));
      if (await isIntact(join(blobs, part), file)) break;
      await rm(join(blobs, part));
      if (!resumed)
        throw downloadError(`${formatHubId(download.id)}: the hash of ${file.path} differs from that of the hub`);
    }
    await rename(join(blobs, part), target).catch(async (error) => {
      // Windows does not replace a file that another process has open. That process has created the same file.
      if (!(await hasSize(target, file.size))) throw error;
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

async function hasSize(path: string, size: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === size;
}

/**
 * Returns a name for a partial file that only this process uses. It takes over the partial file of an earlier attempt by renaming it,
 * because a rename succeeds for one process only. Partial files of other tools are not touched.
 */
async function claimPartialFile(folder: string, etag: string): Promise<string> {
  count += 1;
  const mine = `${etag}.guard-${hostname()}.${process.pid}.${count}.${INCOMPLETE}`;
  written.add(mine);
  for (const other of await readdir(folder)) {
    if (!other.startsWith(`${etag}.guard-`) || written.has(other) || !(await isAbandoned(folder, other))) continue;
    const isMine = await rename(join(folder, other), join(folder, mine)).then(
      () => true,
      () => false,
    );
    if (isMine) break;
  }
  return mine;
}

/** Whether the process that wrote a partial file has ended. */
async function isAbandoned(folder: string, part: string): Promise<boolean> {
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
 * @returns whether the file had some bytes already.
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
        retries.reset();
        onBytes?.(have);
        return have <= file.size;
      });
      signal?.throwIfAborted();
      if (have > file.size) throw downloadError(`${formatHubId(id)}: ${file.path} is longer than the hub states`);
      if (have === file.size) break;
      const error = downloadError(
        `${formatHubId(id)}: the connection broke off after ${have} of ${file.size} bytes of ${file.path}`,
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
 * Appends the bytes of a file from an offset on, until `onBytes` returns false.
 *
 * @returns the network error, if there was one. Write errors and refusals of the hub are thrown.
 */
async function append(
  handle: FileHandle,
  read: FileReader,
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

/** Whether a file has the size and the hash that the hub states. */
async function isIntact(path: string, { size, etag }: HubFile): Promise<boolean> {
  if ((await stat(path)).size !== size) return false;
  // Git hashes a header before the content: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
  const hash = etag.length === 64 ? createHash("sha256") : createHash("sha1").update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex") === etag;
}
