/**
 * Counts how many letters have to be inserted, deleted, replaced or swapped with their neighbour to turn one word into the other.
 * This is the optimal string alignment distance (Damerau 1964; Boytsov, "Indexing methods for approximate dictionary searching",
 * 2011).
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

/**
 * No known word is longer than this. A longer text cannot be a misspelling of one, and comparing it would take time that grows with
 * its length.
 */
const LONGEST = 64;

/** Removes what only spelling changes: `fail_fast`, `failFast` and `fail-fast` become the same word. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, "");
}

/**
 * Returns the known word that may have been meant. It differs from the given word in at most one letter of three; case and
 * separators do not count.
 */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const wanted = plain(word);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const difference = editDistance(wanted, plain(candidate));
    if (difference < least) [best, least] = [candidate, difference];
  }
  return best;
}

/** Returns `; did you mean X?` when a known word is near, and otherwise an empty text. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const best = nearestWord(word, known);
  return best === undefined ? "" : `; did you mean ${best}?`;
}
