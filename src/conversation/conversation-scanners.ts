import { type ModeSetting, modeOf } from "../scan/mode.ts";
import { type NamedScanner, nameScanners } from "../scan/named-scanners.ts";
import type { Scanner } from "../scan/scanner.ts";
import { SCAN_GROUPS, type ScanGroup, SOURCES, type Source } from "../scan/source.ts";

/** The scanners of each group of texts. */
export interface ConversationScanners extends Record<ScanGroup | "window", readonly NamedScanner[]> {
  /** The disabled groups. Their texts do not count as unscanned. */
  off: ReadonlySet<ScanGroup>;
}

/** The scanners that a caller listed for a group, in place of the default ones. */
export type NamedLists = Partial<Record<ScanGroup | "window", readonly NamedScanner[]>>;

/**
 * Selects the scanners of each group: the listed ones, or else those whose definition includes the group. Scanners that are off are left out.
 *
 * @param mode of all scanners.
 */
export function conversationScanners(
  scanners: readonly NamedScanner[],
  named: NamedLists = {},
  mode?: ModeSetting,
): ConversationScanners {
  const bySource = (source: Source) => scanners.filter(({ scanner }) => readsSource(scanner, source));
  const running = (group: ScanGroup | "window", list: readonly NamedScanner[]) =>
    list.filter(({ scanner }) => modeOf(group, [mode, scanner.mode]) !== "off");
  return {
    ...(Object.fromEntries(
      SOURCES.map((source) => [source, running(source, named[source] ?? bySource(source))]),
    ) as unknown as Record<Source, readonly NamedScanner[]>),
    window: running("window", named.window ?? scanners.filter(({ scanner }) => scanner.conversation?.window)),
    history: running("history", named.history ?? scanners.filter(({ scanner }) => scanner.conversation?.history)),
    off: new Set(SCAN_GROUPS.filter((group) => named[group]?.length === 0 || modeOf(group, [mode]) === "off")),
  };
}

/** Whether a scanner scans texts of a source by default. */
export function readsSource({ conversation }: Scanner, source: Source): boolean {
  return (conversation?.sources ?? ["user"]).includes(source);
}

/**
 * Assigns names to the scanners in the lists of a caller.
 *
 * @param lists the group of each list, the path of the list for errors, and the list if present.
 * @throws GuardValidationError with the path of the invalid list, such as `scan.tool`.
 */
export function nameLists(
  lists: readonly (readonly [group: ScanGroup | "window", path: string, list: readonly Scanner[] | undefined])[],
): NamedLists {
  return Object.fromEntries(
    lists.flatMap(([group, path, list]) => (list === undefined ? [] : [[group, nameScanners(list, path)]])),
  );
}
