/** What the names of credentials depend on: the entries of `auth`, which have one secret, or several `keys`. */
interface Entry {
  type: string;
  name?: string | undefined;
  keys?: readonly string[];
}

function countOf({ keys }: Entry): number {
  return keys ? keys.length : 1;
}

/**
 * The names of the credentials of each entry: the name that the entry gives, or its type, with a number from the second credential of
 * a type without a name on: `http_bearer`, `api_key`, `api_key.2`.
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

/** What is wrong with the names of entries. The path begins with the index of the entry. */
export function wrongNames(entries: readonly Entry[]): { path: [number, "name"]; message: string }[] {
  const taken = credentialNames(entries).flatMap((names, index) =>
    entries[index]?.name === undefined ? names : names.slice(0, 1),
  );
  return entries.flatMap((entry, index) => {
    if (entry.name === undefined) return [];
    const wrong = (message: string) => [{ path: [index, "name"] as [number, "name"], message }];
    if (countOf(entry) > 1) {
      return wrong("each key is a credential of its own: write one entry for each key that is to have a name");
    }
    return taken.filter((name) => name === entry.name).length > 1 ? wrong("another credential has this name") : [];
  });
}
