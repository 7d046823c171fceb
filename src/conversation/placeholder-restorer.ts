import { type Abortable, addon, native } from "../native.ts";
import type { VaultEntry } from "../scan/vault.ts";
import { characterAt, characterBefore, isSpacelessScript } from "../text/characters.ts";

/** Shorter values occur in too many texts by chance. */
const MIN_LENGTH = 3;
/** Separates texts. No value contains it. */
const BETWEEN = "\0";
/** Korean appends particles to words. */
const HANGUL = /\p{Script=Hangul}/u;

/**
 * Replaces restored values by their placeholders again. The next request of a conversation contains earlier answers with the original
 * values, and tool results repeat values of tool calls.
 *
 * @param entries the pairs of a vault.
 * @returns a function that replaces the original values in texts if they are whole words. One call with many texts is much faster than
 *   many calls, because each call prepares the search.
 */
export function placeholdersFor(
  entries: readonly VaultEntry[],
  { signal }: Abortable = {},
): (texts: readonly string[]) => Promise<string[]> {
  const known = entries.filter(
    ([placeholder, original]) =>
      original.length >= MIN_LENGTH && placeholder !== original && !original.includes(BETWEEN),
  );
  // Existing placeholders stay, even if an original value is a word of one.
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
