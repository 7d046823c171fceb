import { type Abortable, addon, native } from "../native.ts";
import type { VaultEntry } from "../scan/vault.ts";
import { characterAt, characterBefore, isSpacelessScript } from "../text/characters.ts";

/** Shorter values stand in too many texts by chance. */
const SHORTEST = 3;
/** Stands between texts, and in no value. */
const BETWEEN = "\0";
/** Korean appends particles to words. */
const HANGUL = /\p{Script=Hangul}/u;

/**
 * Puts placeholders back into texts in which they were restored. What a model answered comes back in the next request of a conversation
 * with the originals in it, and a tool repeats the values that it was called with.
 *
 * @param entries the pairs of a vault.
 * @returns a function that replaces the originals in texts, where they stand as whole words. Many texts at once take far less time than
 *   one after the other, because what is looked for is prepared each time.
 */
export function placeholdersFor(
  entries: readonly VaultEntry[],
  { signal }: Abortable = {},
): (texts: readonly string[]) => Promise<string[]> {
  const known = entries.filter(
    ([placeholder, original]) => original.length >= SHORTEST && placeholder !== original && !original.includes(BETWEEN),
  );
  // A placeholder that is there already stays, although an original may be a word of it.
  const kept = known.map(([placeholder]) => placeholder);
  const wanted = [...known.map(([, original]) => original), ...kept];
  const replacements = [...kept, ...kept];
  return async (texts) => {
    if (known.length === 0 || texts.length === 0) return [...texts];
    const joined = texts.join(BETWEEN);
    const { matches } = await native(() => addon.restorePlaceholders(joined, wanted, replacements, "exact"), {
      signal,
    });
    let next = 0;
    let start = 0;
    return texts.map((text) => {
      const end = start + text.length;
      let replaced = "";
      let at = start;
      for (; next < matches.length; next += 3) {
        const match = {
          ...{ start: matches[next] as number, end: matches[next + 1] as number, rule: matches[next + 2] as number },
        };
        if (match.start >= end) break;
        if (!isWhole(joined, match.start, match.end)) continue;
        replaced += joined.slice(at, match.start) + replacements[match.rule];
        at = match.end;
      }
      replaced += joined.slice(at, end);
      start = end + BETWEEN.length;
      return replaced;
    });
  };
}

function isWhole(text: string, start: number, end: number): boolean {
  const [before, first] = [characterBefore(text, start), characterAt(text, start)];
  const [last, after] = [characterBefore(text, end), characterAt(text, end)];
  return !isOneWord(before, first) && !isOneWord(last, after);
}

function isOneWord(left: string, right: string): boolean {
  const isSpaced = (character: string) => !isSpacelessScript(character) && !HANGUL.test(character);
  return [left, right].every((character) => /[\p{L}\p{N}\p{M}]/u.test(character) && isSpaced(character));
}
