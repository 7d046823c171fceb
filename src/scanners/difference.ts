/** How a scanner differs from llm-guard 0.3.16, and why. */
export interface Difference {
  text: string;
  /** Options, in camelCase. The difference applies only if one of them is given. */
  with?: readonly string[];
  /** Options, in camelCase. The difference applies only if none of them is given. */
  without?: readonly string[];
}

/** Values that change nothing: those of an option that is absent or off. */
const NOT_GIVEN: ReadonlySet<unknown> = new Set([undefined, null, false]);

/** Returns the differences that apply with the given parameters, whose names are in snake_case or camelCase. */
export function differencesOf(
  differences: readonly Difference[] | undefined,
  given: Readonly<Record<string, unknown>>,
): string[] {
  const plain = (name: string) => name.replaceAll("_", "").toLowerCase();
  const names = new Set(Object.entries(given).flatMap(([name, value]) => (NOT_GIVEN.has(value) ? [] : [plain(name)])));
  const isGiven = (name: string) => names.has(plain(name));
  return (differences ?? [])
    .filter((difference) => (difference.with?.some(isGiven) ?? true) && !(difference.without?.some(isGiven) ?? false))
    .map(({ text }) => text);
}
