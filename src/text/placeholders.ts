import type { Rows } from "./rows.ts";

/**
 * Puts the originals in the place of their placeholders.
 *
 * @param matches the start and the end of each placeholder that was found, and its index among all, in the order of the text.
 */
export function withOriginals(text: string, matches: Rows, originals: readonly string[]): string {
  let made = "";
  let end = 0;
  for (let at = 0; at < matches.length; at += 3) {
    made += text.slice(end, matches[at]) + originals[matches[at + 2] as number];
    end = matches[at + 1] as number;
  }
  return made + text.slice(end);
}
