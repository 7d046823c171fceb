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

/** Adds to the number at a path. Numbers and counts never replace each other. */
export function addAt(counts: Counts, path: readonly string[], amount: number): void {
  let inner = counts;
  for (const name of path.slice(0, -1)) {
    if (typeof inner[name] === "number") return;
    inner = countsIn(inner, name);
  }
  const last = path.at(-1);
  if (last !== undefined && typeof inner[last] !== "object") add(inner, last, amount);
}

/** Returns each number with its path as a JSON array, rounded to a thousandth. */
export function flatten(counts: Counts, path: readonly string[]): [name: string, amount: number][] {
  return Object.entries(counts).flatMap(([name, value]) =>
    typeof value === "number"
      ? [[JSON.stringify([...path, name]), Math.round(value * 1000) / 1000]]
      : flatten(value, [...path, name]),
  );
}

/** Parses a path of {@link flatten}. Any other text has an empty path. */
export function parsePath(name: string): string[] {
  try {
    const path: unknown = JSON.parse(name);
    return Array.isArray(path) && path.every((part) => typeof part === "string") ? path : [];
  } catch {
    return [];
  }
}
