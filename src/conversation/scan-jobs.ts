import { type Scope, scopeOf } from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { type ScanGroup, SOURCES, type Source } from "../scan/source.ts";
import type { ConversationScanners } from "./conversation-scanners.ts";
import type { MessageGroups } from "./message-groups.ts";

/** A text and its scanners. */
export interface ScanJob {
  text: MessageText;
  scanners: readonly NamedScanner[];
  scope: Scope;
  /** The names of the scanners whose results count. The others only rewrite the text. By default all count. */
  counted?: ReadonlySet<string>;
}

/** The settings that decide which scanners rewrite which texts. */
interface RewritePolicy {
  /** Whether texts are rewritten at all. */
  rewrite: boolean;
  /** The scanners that replace values of users with placeholders. They also rewrite answers of the model. */
  replacing: readonly NamedScanner[];
}

/** Returns the jobs of each group. */
export function scanJobs(
  groups: MessageGroups,
  lists: ConversationScanners,
  policy: RewritePolicy,
): Record<ScanGroup, ScanJob[]> {
  const bySource = Object.fromEntries(
    SOURCES.map((source) => [source, newJobs(source, groups.new[source], lists, policy)]),
  ) as Record<Source, ScanJob[]>;
  const pastCalls = pastCallJobs(groups.pastToolCalls, lists, policy);
  return { ...bySource, history: [...historyJobs(groups.history, lists, policy.rewrite), ...pastCalls] };
}

/** Returns the jobs for new texts of a source. In answers, scanners that replace values of users only rewrite: their results do not count. */
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

/** Returns the scanners that judge or rewrite new texts of a source. */
function scannersOf(
  source: Source,
  lists: ConversationScanners,
  { replacing }: RewritePolicy,
): readonly NamedScanner[] {
  const own = lists[source];
  // A value that was restored in an answer is plain text in the client's next request.
  if ((source !== "assistant" && source !== "tool_call") || lists.off.has(source)) return own;
  const others = replacing.filter((item) => !own.includes(item));
  return others.length > 0 ? [...own, ...others] : own;
}

/**
 * Returns the jobs for tool calls of earlier turns. Scanners of the history that read tool calls judge them, and scanners that rewrite tool
 * calls rewrite them again.
 */
function pastCallJobs(texts: readonly MessageText[], lists: ConversationScanners, policy: RewritePolicy): ScanJob[] {
  const judging = lists.history.filter((item) => lists.tool_call.includes(item));
  // The order of the list is kept, so that each scanner reads the same text as when the text was new.
  const scanners = scannersOf("tool_call", lists, policy).filter(
    (item) => judging.includes(item) || (policy.rewrite && item.scanner.sanitizes),
  );
  return texts.map((text) => ({ text, scanners, scope: "history", counted: namesOf(judging) }));
}

/**
 * Returns the jobs for messages that the model has answered. Scanners of the history judge them, and scanners that rewrite texts of
 * their source rewrite them again, because the client sends its own copy.
 */
function historyJobs(texts: readonly MessageText[], lists: ConversationScanners, rewrite: boolean): ScanJob[] {
  const ofSource = (source: Source): Omit<ScanJob, "text"> => {
    const list = lists[source];
    const judging = source === "user" ? lists.history : lists.history.filter((item) => list.includes(item));
    const rewriting = list.filter((item) => rewrite && item.scanner.sanitizes && !judging.includes(item));
    // The order of the list is kept, so that each scanner reads the same text as when the text was new.
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
