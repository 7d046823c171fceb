/** The part of an entry of `auth` that its credential names depend on. */
interface Entry {
  type: string;
  name?: string | undefined;
  keys?: readonly string[];
}

function countOf({ keys }: Entry): number {
  return keys ? keys.length : 1;
}

/**
 * Returns the credential names of each entry: the name of the entry, or its type with a number from the second one on: `http_bearer`,
 * `api_key`, `api_key.2`.
 */
export function credentialNames(entries: readonly Entry[]): string[][] {
  const counts = new Map<string, number>();
  return entries.map((entry) =>
    Array.from({ length: countOf(entry) }, () => {
      if (entry.name !== undefined) return entry.name;
      const count = (counts.get(entry.type) ?? 0) + 1;
      counts.set(entry.type, count);
      return count === 1 ? entry.type : `${entry.type}.${count}`;
    }),
  );
}

/** Finds invalid names. Paths start with the index of the entry. */
export function nameIssues(entries: readonly Entry[]): { path: [number, "name"]; message: string }[] {
  const taken = credentialNames(entries).flatMap((names, index) =>
    entries[index]?.name === undefined ? names : names.slice(0, 1),
  );
  return entries.flatMap((entry, index) => {
    if (entry.name === undefined) return [];
    const issue = (message: string) => [{ path: [index, "name"] as [number, "name"], message }];
    if (countOf(entry) > 1) {
      return issue("each key is a credential of its own: write an entry for each key with a name");
    }
    return taken.filter((name) => name === entry.name).length > 1 ? issue("another credential has this name") : [];
  });
}
