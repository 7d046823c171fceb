import { createHash } from "node:crypto";
import { unwatchFile, watchFile as watchStatus } from "node:fs";
import { readFile } from "node:fs/promises";

/** Milliseconds between two looks at a file. */
const INTERVAL = 1000;

/**
 * Calls back when a file has another content.
 *
 * The file is looked at again and again by its name: whether an editor writes into it or puts another file in its place, whether
 * Kubernetes changes where a link of a ConfigMap leads, and on whatever file system. A change of several steps is told when a whole interval
 * has passed without another one.
 *
 * @returns what ends that.
 */
export function watchFile(path: string, onChange: () => void, interval = INTERVAL): () => void {
  let known: Promise<string | undefined> = contentOf(path);
  let settled: NodeJS.Timeout | undefined;
  const look = async () => {
    const before = await known;
    known = contentOf(path);
    const content = await known;
    // A file that is not there is between two of its contents.
    if (content === undefined) known = Promise.resolve(before);
    else if (content !== before) onChange();
  };
  const onStatus = () => {
    clearTimeout(settled);
    settled = setTimeout(look, interval).unref();
  };
  watchStatus(path, { interval, persistent: false }, onStatus);
  return () => {
    clearTimeout(settled);
    unwatchFile(path, onStatus);
  };
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
  } catch {
    return undefined;
  }
}
