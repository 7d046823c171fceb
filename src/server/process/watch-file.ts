import { createHash } from "node:crypto";
import { readFileSync, unwatchFile, watchFile as watchStatus } from "node:fs";

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
  // What is served was read a moment ago: what is written from now on is another content.
  let known: string | undefined = contentOf(path);
  let settled: NodeJS.Timeout | undefined;
  const look = () => {
    const content = contentOf(path);
    // A file that is not there is between two of its contents.
    if (content === undefined || content === known) return;
    known = content;
    onChange();
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

/** A hash of what is in a file, which is short: it is read at once. */
function contentOf(path: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return undefined;
  }
}
