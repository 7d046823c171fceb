import { readConversationInSlices } from "../messages/read-conversation.ts";
import type { ChatRequest, Message } from "../scan/chat-request.ts";
import { nameScanners, suppressedNames } from "../scan/named-scanners.ts";
import { reportOf, type ScanReport } from "../scan/report.ts";
import { checkConversationOptions, type ScanOptions } from "../scan/scan-options.ts";
import type { Scanner } from "../scan/scanner.ts";
import { SCAN_GROUPS, type ScanGroup } from "../scan/source.ts";
import type { VerdictCache } from "../scan/verdict-cache.ts";
import { scanTexts } from "./conversation-scan.ts";
import { conversationScanners, nameLists } from "./conversation-scanners.ts";
import type { ConversationRisk } from "./risk.ts";
import { checkSuppressed } from "./suppressed.ts";

export type { ChatRequest, ContentPart, Message } from "../scan/chat-request.ts";
export { CONVERSATION_RISK } from "../scan/report.ts";
export type { ScanGroup, Source } from "../scan/source.ts";
export { VerdictCache } from "../scan/verdict-cache.ts";
export {
  ConversationRisk,
  conversationRiskOptions,
  type DetectingScanner,
  type RiskAssessment,
  type ScoringFunction,
} from "./risk.ts";

/** The options that say how a conversation is scanned. */
export interface ConversationOptions
  extends Omit<ScanOptions, "source" | "conversation">,
    Pick<ChatRequest, "tools" | "system" | "fields"> {
  /**
   * How many user messages are scanned together; 1 turns that off. When the model has not answered more than this, all of those are
   * scanned together. The default is 3.
   */
  window?: number;
  /** Checks the accumulated risk too. */
  risk?: ConversationRisk;
  /** With `false`, no scanner rewrites the text and all scanners read the original messages. The default is true. */
  rewrite?: boolean;
  /** Caches verdicts of earlier calls. By default, all calls of the process share one cache. */
  verdicts?: VerdictCache;
  /**
   * The scanners that check texts of a source, and with `history` those that check again what the model has already answered. By
   * default these are the scanners of the list that ask for it in {@link Scanner.conversation}. `[]` turns a check off, and the coverage
   * does not count its texts as left out.
   */
  scan?: Partial<Record<ScanGroup, readonly Scanner[]>>;
  /** The same as `scan.tool`. */
  toolScanners?: readonly Scanner[];
  /** The scanners that check the window. By default these are the scanners of the list that ask for it in {@link Scanner.conversation}. */
  windowScanners?: readonly Scanner[];
}

export interface ConversationReport extends ScanReport {
  /** The latest user message as the scanners rewrote it. It is empty when there is no user message. */
  sanitizedPrompt: string;
  /** All messages as they may be sent on: every text as the scanners of its source rewrote it. */
  sanitizedMessages: readonly Message[];
  /** The definitions of tools as they may be sent on. It is absent when none were given. */
  sanitizedTools?: NonNullable<ChatRequest["tools"]>;
  /** The system prompt beside the messages as it may be sent on. It is absent when none was given. */
  sanitizedSystem?: NonNullable<ChatRequest["system"]>;
  /** The other fields of the request as they may be sent on. It is absent when none were given. */
  sanitizedFields?: NonNullable<ChatRequest["fields"]>;
}

/**
 * Scans everything that the model is about to read: the user messages that it has not answered (`X` in results), the last few user
 * messages together (`X[window]`), texts of other sources, such as tool results (`X[tool]`), what it has answered and reads again
 * (`X[history]`), and the accumulated risk (`ConversationRisk`).
 *
 * Texts of a source are scanned one by one. The worst score is reported, and all findings, which name their message. Verdicts on known
 * texts are cached, so that a call costs only what its new messages cost.
 *
 * All texts of one call share the `vault`, with the oldest first, so that a value has the same placeholder everywhere. Pass the vault
 * that the earlier turns filled, so that the values that they replaced keep their placeholders.
 *
 * @param messages the messages in the format of OpenAI, Anthropic or MCP, with the oldest first.
 * @throws GuardValidationError when scanners, messages or options are invalid, and ScannerError when a scanner throws.
 */
export async function scanConversation(
  scanners: readonly Scanner[],
  messages: readonly Message[],
  options: ConversationOptions = {},
): Promise<ConversationReport> {
  checkConversationOptions(options);
  const { tools, system, fields, scan = {}, toolScanners, windowScanners, ...rest } = options;
  const named = nameScanners(scanners);
  const lists = nameLists([
    ...SCAN_GROUPS.map((group) => [group, `scan.${group}`, scan[group]] as const),
    ["window", "windowScanners", windowScanners],
    ...(toolScanners === undefined ? [] : ([["tool", "toolScanners", toolScanners]] as const)),
  ]);
  const suppress = suppressedNames(rest.suppress);
  checkSuppressed(suppress, [...named, ...Object.values(lists).flat()]);
  const conversation = await readConversationInSlices({ messages, tools, system, fields }, rest.signal);
  const { sanitizedPrompt, sanitized, engineTiming, ...result } = await scanTexts(
    conversationScanners(named, lists),
    conversation,
    Object.assign(rest, { suppress }),
  );
  return Object.assign({ sanitizedPrompt }, sanitizedRequest(sanitized), reportOf(result, engineTiming));
}

/** Names the parts of a sanitized request as reports do. */
export function sanitizedRequest({
  messages,
  tools,
  system,
  fields,
}: ChatRequest): Pick<
  ConversationReport,
  "sanitizedMessages" | "sanitizedTools" | "sanitizedSystem" | "sanitizedFields"
> {
  return {
    sanitizedMessages: messages,
    ...(tools ? { sanitizedTools: tools } : {}),
    ...(system ? { sanitizedSystem: system } : {}),
    ...(fields ? { sanitizedFields: fields } : {}),
  };
}
