import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { downloadError, type HubClient, type HubFile, Retries } from "./client.ts";
import { type HubId, hubName } from "./hub-id.ts";

/** The ending of the name of a partial file that no process writes to. */
const FREE = "free";
/**
 * A partial file that another machine wrote counts as abandoned when nothing has been written to it for this many milliseconds.
 */
const ABANDONED_MS = 24 * 3600 * 1000;

let count = 0;
/** The names of the partial files that this process writes to. */
const written = new Set<string>();

/** A file of a repository that is being downloaded. */
export interface Download {
  client: HubClient;
  id: HubId;
  commit: string;
  file: HubFile;
  /** The path that the complete file gets. */
  target: string;
  /** The folder of partial files. */
  parts: string;
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes that have arrived, whenever that number changes. */
  onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Downloads a file, and resumes what an earlier attempt left. The file appears at its path only after it is complete and its
 * hash has been checked.
 *
 * @throws GuardError `GUARD_DOWNLOAD` when the file cannot be downloaded, or its hash is not the one that the hub states;
 *   the reason of the signal when it is aborted.
 */
export async function downloadFile(download: Download): Promise<void> {
  const { file, target, parts, signal } = download;
  if (await isThere(target, file.size)) return;
  await mkdir(parts, { recursive: true });
  const name = file.sha256 ?? file.blobId;
  // Without a hash nobody can tell which file a partial file belongs to, so it is not resumed.
  const part = await claim(parts, name ?? "unnamed", name !== undefined);
  try {
    for (;;) {
      const resumed = await receive(download, join(parts, part));
      signal?.throwIfAborted();
      if (await isIntact(join(parts, part), file)) break;
      await rm(join(parts, part));
      if (!resumed)
        throw downloadError(`${hubName(download.id)}: ${file.path} is not what the hub says: its hash differs`);
    }
    await mkdir(dirname(target), { recursive: true });
    await rename(join(parts, part), target).catch(async (error) => {
      // Windows does not replace a file that another process has open. In that case the other process has put the same file
      // there.
      if (!(await isThere(target, file.size))) throw error;
      await rm(join(parts, part), { force: true });
    });
  } catch (error) {
    if (name === undefined) await rm(join(parts, part), { force: true });
    else await rename(join(parts, part), join(parts, `${name}.${FREE}`)).catch(() => {});
    throw error;
  } finally {
    written.delete(part);
  }
}

async function isThere(path: string, size: number | undefined): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && (size === undefined || found.size === size);
}

/**
 * Chooses a name for a partial file that no other process uses. A partial file that an earlier attempt left is taken over by
 * renaming it, because a rename succeeds for one process only.
 */
async function claim(folder: string, name: string, mayResume: boolean): Promise<string> {
  count += 1;
  const mine = `${name}.${hostname()}.${process.pid}.${count}`;
  written.add(mine);
  if (!mayResume) return mine;
  for (const other of await readdir(folder)) {
    if (!other.startsWith(`${name}.`) || written.has(other) || !(await isLeft(folder, other))) continue;
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
  if (part.endsWith(`.${FREE}`)) return true;
  const [, host, pid] = /^[^.]+\.(.*)\.(\d+)\.\d+$/.exec(part) ?? [];
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
async function receive({ client, id, commit, file, signal, onBytes }: Download, part: string): Promise<boolean> {
  const handle = await open(part, "a+");
  try {
    let have = (await handle.stat()).size;
    const resumed = have > 0;
    const retries = new Retries();
    // A server that does not support ranges sends the same first bytes each time. Bytes that arrived before must not count as
    // progress, or the retries would never end.
    let most = have;
    onBytes?.(have);
    while (have !== file.size || have === 0) {
      const response = await client.file(id, commit, file.path, have, retries, signal);
      if (!goesOn(response, have)) {
        await response.body?.cancel();
        if (have === 0) throw downloadError(`${hubName(id)}: ${file.path} came as another part than was asked for`);
        // The bytes on disk are not the beginning of this file.
        await handle.truncate(0);
        have = 0;
        continue;
      }
      if (response.status === 200 && have > 0) {
        await handle.truncate(0);
        have = 0;
      }
      const broken = await append(handle, response, (bytes) => {
        have += bytes;
        if (have > most) {
          most = have;
          retries.progressed();
        }
        onBytes?.(have);
        return file.size === undefined || have <= file.size;
      });
      signal?.throwIfAborted();
      if (file.size !== undefined && have > file.size) {
        throw downloadError(`${hubName(id)}: ${file.path} is longer than the hub says`);
      }
      if (!broken && (file.size === undefined || have === file.size)) break;
      const error = downloadError(
        `${hubName(id)}: the connection broke off after ${have} of ${file.size ?? "unknown"} bytes of ${file.path}`,
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

/** Tells whether a response begins where the partial file ends, or at the beginning of the file. */
function goesOn({ status, headers }: Response, have: number): boolean {
  if (status === 206) return Number(/^bytes (\d+)-/.exec(headers.get("content-range") ?? "")?.[1]) === have;
  return status === 200;
}

/**
 * Writes the bytes of a response until `onBytes` returns false.
 *
 * @returns the error of the network, if there was one. Failures to write are thrown.
 */
async function append(handle: FileHandle, response: Response, onBytes: (bytes: number) => boolean): Promise<unknown> {
  const reader = response.body?.getReader();
  for (;;) {
    let chunk: Uint8Array | undefined;
    try {
      chunk = (await reader?.read())?.value;
    } catch (error) {
      return error;
    }
    if (!chunk) return undefined;
    await handle.appendFile(chunk);
    if (onBytes(chunk.length)) continue;
    await reader?.cancel();
    return undefined;
  }
}

/** Tells whether a file has the size and the hash that the hub states. A value that the hub does not state is not checked. */
async function isIntact(path: string, { size, sha256, blobId }: HubFile): Promise<boolean> {
  const found = (await stat(path)).size;
  if (size !== undefined && found !== size) return false;
  const expected = sha256 ?? blobId;
  if (expected === undefined) return true;
  // Git hashes a header before the content: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
  const hash = sha256 ? createHash("sha256") : createHash("sha1").update(`blob ${found}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex") === expected;
}
