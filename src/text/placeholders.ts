import type { Rows } from "./rows.ts";

/**
 * Replaces placeholders by their originals.
 *
 * @param matches rows of three numbers in the order of the text: start and end of a placeholder, and the index of its original.
 */
export function restoreOriginals(text: string, matches: Rows, originals: readonly string[]): string {
  let result = "";
  let end = 0;
  for (let at = 0; at < matches.length; at += 3) {
    result += text.slice(end, matches[at]) + originals[matches[at + 2] as number];
    end = matches[at + 1] as number;
  }
  return result + text.slice(end);
}
