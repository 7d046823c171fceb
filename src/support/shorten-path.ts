/** The maximum length of a path in UTF-16 code units. */
const MAX_LENGTH = 500;

/**
 * Shortens a JSON path for a finding. The author of the JSON chooses the length and depth of its keys. Without a limit, the paths of a
 * thousand findings below the same long keys would be many times as large as the text.
 *
 * @returns the path, or the beginning and the end of a long path with `…` between them.
 */
export function shortenPath(path: string): string {
  if (path.length <= MAX_LENGTH) return path;
  return `${path.slice(0, MAX_LENGTH / 2)}…${path.slice(1 - MAX_LENGTH / 2)}`;
}
