/** Numbers by name, nested to any depth. They have no prototype, so that any name may be a key. */
export interface Counts {
  [name: string]: number | Counts;
}

export function emptyCounts(): Counts {
  return Object.create(null);
}

/** Returns the counts under a name, which are created if they are missing. */
export function countsIn(counts: Counts, name: string): Counts {
  counts[name] ??= emptyCounts();
  return counts[name] as Counts;
}

/** Adds to a number. */
export function add(counts: Counts, name: string, amount = 1): void {
  counts[name] = ((counts[name] as number | undefined) ?? 0) + amount;
}

/** Adds all numbers of other counts. */
export function addCounts(to: Counts, from: Counts): void {
  for (const [name, value] of Object.entries(from)) {
    if (typeof value === "number") add(to, name, value);
    else addCounts(countsIn(to, name), value);
  }
}
