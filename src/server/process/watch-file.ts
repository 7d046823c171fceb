import { createHash } from "node:crypto";
import { readFileSync, unwatchFile, watchFile as watchStatus } from "node:fs";

const INTERVAL_MS = 1000;

/**
 * Calls a function when the content of a file changes. It polls the path, which works on every file system, whether an editor writes the
 * file or replaces it, and whether Kubernetes changes the symbolic link of a ConfigMap. Several changes are reported once, after an
 * interval without changes.
 *
 * @returns a function that stops watching.
 */
export function watchFile(path: string, onChange: () => void, intervalMs = INTERVAL_MS): () => void {
  let hash = hashOf(path);
  let timer: NodeJS.Timeout | undefined;
  const compare = () => {
    const current = hashOf(path);
    // A missing file is probably being replaced.
    if (current === undefined || current === hash) return;
    hash = current;
    onChange();
  };
  const onStatus = () => {
    clearTimeout(timer);
    timer = setTimeout(compare, intervalMs).unref();
  };
  watchStatus(path, { interval: intervalMs, persistent: false }, onStatus);
  return () => {
    clearTimeout(timer);
    unwatchFile(path, onStatus);
  };
}

function hashOf(path: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return undefined;
  }
}
