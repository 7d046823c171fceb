import { type NamedScanner, nameScanners } from "../scan/scan.ts";
import type { Scanner } from "../scan/scanner.ts";
import { SCANNED, type Scanned, SOURCES, type Source } from "../scan/source.ts";

/** Which scanners look at what. */
export interface ConversationLists extends Record<Scanned | "window", readonly NamedScanner[]> {
  /** What nobody is to look at, because the caller has said so. It does not count as left out. */
  off: ReadonlySet<Scanned>;
}

/** The scanners that a caller named, in place of those that look there by themselves. */
export type GivenLists = Partial<Record<Scanned | "window", readonly NamedScanner[]>>;

/** Decides which scanners look at what: those that were named for it, else those that say so themselves. */
export function conversationLists(named: readonly NamedScanner[], given: GivenLists = {}): ConversationLists {
  const reading = (source: Source) => named.filter(({ scanner }) => readsSource(scanner, source));
  return {
    ...(Object.fromEntries(SOURCES.map((source) => [source, given[source] ?? reading(source)])) as Record<
      Source,
      readonly NamedScanner[]
    >),
    window: given.window ?? named.filter(({ scanner }) => scanner.conversation?.window),
    history: given.history ?? named.filter(({ scanner }) => scanner.conversation?.history),
    off: new Set(SCANNED.filter((what) => given[what]?.length === 0)),
  };
}

/** Tells whether a scanner looks at texts of a source when nobody says which scanners do. */
export function readsSource({ conversation }: Scanner, source: Source): boolean {
  return (conversation?.sources ?? ["user"]).includes(source);
}

/**
 * Names the scanners of lists that a caller gave.
 *
 * @param lists what each list looks at, the path of the list, and the list if there is one.
 * @throws GuardValidationError with the path of the list at fault, such as `scan.tool`.
 */
export function givenLists(
  lists: readonly (readonly [what: Scanned | "window", path: string, list: readonly Scanner[] | undefined])[],
): GivenLists {
  return Object.fromEntries(
    lists.flatMap(([what, path, list]) => (list === undefined ? [] : [[what, nameScanners(list, path)]])),
  );
}
