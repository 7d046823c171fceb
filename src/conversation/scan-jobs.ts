import { type Scope, scopeOf } from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { type ScanGroup, SOURCES, type Source } from "../scan/source.ts";
import type { ConversationScanners } from "./conversation-scanners.ts";
import type { MessageGroups } from "./message-groups.ts";

/** One text, and the scanners that look at it. */
export interface ScanJob {
  text: MessageText;
  scanners: readonly NamedScanner[];
  scope: Scope;
  /** The names of the scanners whose results count. The others only rewrite the text. By default all count. */
  counted?: ReadonlySet<string>;
}

/** What decides which scanners rewrite which texts. */
interface RewritePolicy {
  /** Whether texts are rewritten at all. */
  rewrite: boolean;
  /** The scanners that replace values of users by placeholders. They do so in what the model wrote too. */
  replacing: readonly NamedScanner[];
}

/** Returns the texts of each group with their scanners. */
export function scanJobs(
  groups: MessageGroups,
  lists: ConversationScanners,
  policy: RewritePolicy,
): Record<ScanGroup, ScanJob[]> {
  const bySource = Object.fromEntries(
    SOURCES.map((source) => [source, newJobs(source, groups.new[source], lists, policy)]),
  ) as Record<Source, ScanJob[]>;
  const pastCalls = policy.rewrite ? pastCallJobs(groups.pastToolCalls, scannersOf("tool_call", lists, policy)) : [];
  return { ...bySource, history: [...historyJobs(groups.history, lists, policy.rewrite), ...pastCalls] };
}

/** The new texts of a source. Scanners that replace values of users do so in what the model wrote too, where their results don't count. */
function newJobs(
  source: Source,
  texts: readonly MessageText[],
  lists: ConversationScanners,
  policy: RewritePolicy,
): ScanJob[] {
  const scanners = scannersOf(source, lists, policy);
  const counted = scanners === lists[source] ? {} : { counted: namesOf(lists[source]) };
  return texts.map((text) => ({ text, scanners, scope: scopeOf(source), ...counted }));
}

/** The scanners that look at new texts of a source or rewrite them. */
function scannersOf(
  source: Source,
  lists: ConversationScanners,
  { replacing }: RewritePolicy,
): readonly NamedScanner[] {
  const own = lists[source];
  // A value that was restored in an answer stands in clear in what the client sends with the next turn.
  if ((source !== "assistant" && source !== "tool_call") || lists.off.has(source)) return own;
  const others = replacing.filter((item) => !own.includes(item));
  return others.length > 0 ? [...own, ...others] : own;
}

/** Tool calls of earlier turns: scanners that rewrite tool calls rewrite them again, and nothing judges them twice. */
function pastCallJobs(texts: readonly MessageText[], list: readonly NamedScanner[]): ScanJob[] {
  const scanners = list.filter(({ scanner }) => scanner.sanitizes);
  return scanners.length === 0
    ? []
    : texts.map((text) => ({ text, scanners, scope: "history", counted: new Set<string>() }));
}

/**
 * The texts that the model has answered: scanners of the history judge them, and scanners that rewrite texts of their source rewrite them
 * again, because the client sends its own copy.
 */
function historyJobs(texts: readonly MessageText[], lists: ConversationScanners, rewrite: boolean): ScanJob[] {
  const ofSource = (source: Source): Omit<ScanJob, "text"> => {
    const list = lists[source];
    const judging = source === "user" ? lists.history : lists.history.filter((item) => list.includes(item));
    const rewriting = list.filter((item) => rewrite && item.scanner.sanitizes && !judging.includes(item));
    // In the order of the list, so that the scanners read the same texts as when the text was new.
    const known = list.filter((item) => judging.includes(item) || rewriting.includes(item));
    const scanners = [...known, ...judging.filter((item) => !known.includes(item))];
    return { scanners, scope: "history", counted: namesOf(judging) };
  };
  const jobs = { user: ofSource("user"), tool: ofSource("tool") };
  return texts.map((text) => ({ text, ...(text.source === "user" ? jobs.user : jobs.tool) }));
}

function namesOf(scanners: readonly NamedScanner[]): Set<string> {
  return new Set(scanners.map(({ name }) => name));
}
