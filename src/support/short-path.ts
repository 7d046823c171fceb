/** The most UTF-16 code units of a path, half of which are those of its beginning. */
const LONGEST = 500;

/**
 * Returns a path as findings show it. Whoever writes JSON may give keys any length and stack them as deep as is taken, and a text of a
 * megabyte may have a thousand findings below the same keys: their paths together would be many times as long as the text.
 *
 * @returns the path, or of a long one the beginning and the end with `…` between.
 */
export function shortPath(path: string): string {
  if (path.length <= LONGEST) return path;
  return `${path.slice(0, LONGEST / 2)}…${path.slice(1 - LONGEST / 2)}`;
}
