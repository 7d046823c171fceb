import { addon, native } from "../native.ts";
import type { VaultEntry } from "../vault.ts";

/** Shorter values stand in too many texts by chance. */
const SHORTEST = 3;
/** Scripts that write no spaces between words, and Hangul, which appends particles to them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Hangul}]/u;

/**
 * Puts placeholders back into texts in which they were restored. What a model answered comes back in the next request of a conversation
 * with the originals in it, and a tool repeats the values that it was called with.
 *
 * @param entries the pairs of a vault.
 * @returns a function that replaces the originals in a text, where they stand as whole words.
 */
export function placeholdersFor(entries: readonly VaultEntry[]): (text: string) => Promise<string> {
  const known = entries.filter(([placeholder, original]) => original.length >= SHORTEST && placeholder !== original);
  const originals = known.map(([, original]) => original);
  const placeholders = known.map(([placeholder]) => placeholder);
  return async (text) => {
    if (known.length === 0) return text;
    const { matches } = await native(() => addon.restorePlaceholders(text, originals, placeholders, "exact"));
    let replaced = "";
    let end = 0;
    for (const match of matches) {
      if (!isWhole(text, match.start, match.end)) continue;
      replaced += text.slice(end, match.start) + placeholders[match.rule];
      end = match.end;
    }
    return replaced + text.slice(end);
  };
}

function isWhole(text: string, start: number, end: number): boolean {
  const [before, first] = [characterBefore(text, start), characterAt(text, start)];
  const [last, after] = [characterBefore(text, end), characterAt(text, end)];
  return !isOneWord(before, first) && !isOneWord(last, after);
}

function isOneWord(left: string, right: string): boolean {
  return [left, right].every((character) => /[\p{L}\p{N}\p{M}]/u.test(character) && !UNSPACED.test(character));
}

function characterAt(text: string, offset: number): string {
  return offset < text.length ? String.fromCodePoint(text.codePointAt(offset) as number) : "";
}

function characterBefore(text: string, offset: number): string {
  const isPair = /[\udc00-\udfff]/.test(text.charAt(offset - 1)) && /[\ud800-\udbff]/.test(text.charAt(offset - 2));
  return text.slice(Math.max(0, offset - (isPair ? 2 : 1)), offset);
}
