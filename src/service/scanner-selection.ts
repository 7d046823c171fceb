import type { ConversationScanners, NamedLists } from "../conversation/conversation-scanners.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { SCAN_GROUPS } from "../scan/source.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { ScanRequest, ScanServiceOptions } from "./service-types.ts";

/**
 * Returns a function that replaces scanners by the replacements of a request, under the same names. A scanner that is in several lists is
 * the same object in all of them.
 */
export function scannerReplacer({
  replacements,
}: Pick<ScanRequest, "replacements">): (items: readonly NamedScanner[]) => readonly NamedScanner[] {
  if (!replacements) return (items) => items;
  const known = new Map<NamedScanner, NamedScanner>();
  const replaced = (item: NamedScanner): NamedScanner => {
    const found = known.get(item) ?? { ...item, scanner: replacements.get(item.scanner) ?? item.scanner };
    known.set(item, found);
    return found;
  };
  return (items) => items.map(replaced);
}

/** Applies {@link scannerReplacer} to all lists of a conversation. */
export function replaceScanners(request: ScanRequest, { off, ...lists }: ConversationScanners): ConversationScanners {
  const replace = scannerReplacer(request);
  const replaced = Object.fromEntries(Object.entries(lists).map(([group, items]) => [group, replace(items)]));
  return { off, ...(replaced as typeof lists) };
}

/**
 * Finds the scanners that the options list for each source.
 *
 * @throws GuardValidationError with the path of a name that no input scanner has.
 */
export function sourceLists(
  { conversation }: Pick<ScanServiceOptions, "conversation">,
  named: readonly NamedScanner[],
): NamedLists {
  const { scan = {}, scanToolMessages } = conversation;
  if (!scanToolMessages && scan.tool && scan.tool.length > 0) {
    const message = "names scanners for tool results, but scan_tool_messages is false";
    throw new GuardValidationError([{ path: "conversation.scan.tool", message }]);
  }
  const lists: NamedLists = scanToolMessages ? {} : { tool: [] };
  for (const group of SCAN_GROUPS) {
    const names = scan[group];
    if (!names) continue;
    const chosen = new Set(names.flatMap((name, index) => findScanners(name, named, `${group}.${index}`)));
    // Keep the order of the list of scanners, which is the order in which they run.
    lists[group] = named.filter((item) => chosen.has(item));
  }
  return lists;
}

function findScanners(wanted: string, named: readonly NamedScanner[], path: string): NamedScanner[] {
  const found = named.filter(({ name, scanner }) => name === wanted || scanner.type === wanted);
  if (found.length > 0) return found;
  const names = named.map(({ name }) => name);
  const hint = didYouMean(wanted, names) || "; name a scanner of input_scanners";
  throw new GuardValidationError([{ path: `conversation.scan.${path}`, message: `unknown scanner ${wanted}${hint}` }]);
}
