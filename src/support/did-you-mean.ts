/**
 * Returns the optimal string alignment distance of two words: the minimum number of insertions, deletions, replacements and swaps of
 * neighbouring letters (Damerau 1964; Boytsov, "Indexing methods for approximate dictionary searching", 2011).
 */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (last[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      let best = Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        best = Math.min(best, (beforeLast[j - 2] as number) + 1);
      }
      row.push(best);
    }
    [beforeLast, last] = [last, row];
  }
  return last[to.length] as number;
}

/** Longer texts are not compared: no known word is that long, and the time grows with the length. */
const MAX_LENGTH = 64;

/** Normalizes the spelling: `fail_fast`, `failFast` and `fail-fast` become the same word. */
function normalize(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, "");
}

/** Returns the most similar known word. It differs in at most a third of the letters; case and separators do not count. */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const wanted = normalize(word);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const difference = editDistance(wanted, normalize(candidate));
    if (difference < least) [best, least] = [candidate, difference];
  }
  return best;
}

/** Returns `; did you mean X?` if a known word is similar, and otherwise an empty string. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const best = nearestWord(word, known);
  return best === undefined ? "" : `; did you mean ${best}?`;
}
