/** What a scanner does otherwise than llm-guard 0.3.16, in sentences that give the reason. */
export interface Difference {
  text: string;
  /** The options, in camelCase, one of which has to be given for the difference to show. */
  with?: readonly string[];
  /** The options, in camelCase, none of which may be given for the difference to show. */
  without?: readonly string[];
}

/** Returns the differences that show with the given parameters, whose names may be in snake_case or camelCase. */
export function differencesOf(
  differences: readonly Difference[] | undefined,
  given: Readonly<Record<string, unknown>>,
): string[] {
  const plain = (name: string) => name.replaceAll("_", "").toLowerCase();
  const names = new Set(
    Object.entries(given).flatMap(([name, value]) => (value === undefined || value === null ? [] : [plain(name)])),
  );
  const isGiven = (name: string) => names.has(plain(name));
  return (differences ?? [])
    .filter((difference) => (difference.with?.some(isGiven) ?? true) && !(difference.without?.some(isGiven) ?? false))
    .map(({ text }) => text);
}
