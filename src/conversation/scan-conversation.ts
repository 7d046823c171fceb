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

/** The options of {@link scanConversation}. */
export interface ConversationOptions
  extends Omit<ScanOptions, "source" | "conversation">,
    Pick<ChatRequest, "tools" | "system" | "fields"> {
  /**
   * The number of user messages that are scanned together. 1 disables this check. If more messages are unanswered, all of those are
   * scanned together. The default is 3.
   */
  window?: number;
  /** Checks the accumulated risk too. */
  risk?: ConversationRisk;
  /** With `false`, no scanner rewrites a text and all scanners read the original messages. The default is true. */
  rewrite?: boolean;
  /** Caches verdicts of earlier calls. By default, all calls of the process share one cache. */
  verdicts?: VerdictCache;
  /**
   * The scanners for texts of a source, and with `history` for messages that the model has already answered. The default is decided by
   * {@link Scanner.conversation} of the listed scanners. `[]` disables a check, and the coverage does not count its texts as unscanned.
   */
  scan?: Partial<Record<ScanGroup, readonly Scanner[]>>;
  /** An alias of `scan.tool`. */
  toolScanners?: readonly Scanner[];
  /** The scanners for the window. The default is decided by {@link Scanner.conversation} of the listed scanners. */
  windowScanners?: readonly Scanner[];
}

export interface ConversationReport extends ScanReport {
  /** The latest user message, sanitized. Empty without a user message. */
  sanitizedPrompt: string;
  /** All messages, sanitized by the scanners of their sources. */
  sanitizedMessages: readonly Message[];
  /** The tool definitions, sanitized. Absent if none were given. */
  sanitizedTools?: NonNullable<ChatRequest["tools"]>;
  /** The system prompt outside the messages, sanitized. Absent if none was given. */
  sanitizedSystem?: NonNullable<ChatRequest["system"]>;
  /** The other fields of the request, sanitized. Absent if none were given. */
  sanitizedFields?: NonNullable<ChatRequest["fields"]>;
}

/**
 * Scans everything that the model is about to read: the user messages that it has not answered (`X` in results), the last few user
 * messages together (`X[window]`), texts of other sources, such as tool results (`X[tool]`), messages that it has answered and reads again
 * (`X[history]`), and the accumulated risk (`ConversationRisk`).
 *
 * Texts of a source are scanned one by one. The report has the worst score, and all findings with their message. Verdicts are cached, so
 * that a call scans only its new messages.
 *
 * All texts of a call share the `vault`, oldest first, so that a value has the same placeholder everywhere. Pass the vault of the earlier
 * turns, so that their values keep their placeholders.
 *
 * @param messages the messages in the format of OpenAI, Anthropic, Google or MCP, oldest first.
 * @throws GuardValidationError for invalid scanners, messages or options, and ScannerError if a scanner throws.
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
    conversationScanners(named, lists, rest.mode),
    conversation,
    Object.assign(rest, { suppress }),
  );
  return Object.assign({ sanitizedPrompt }, sanitizedRequest(sanitized), reportOf(result, engineTiming));
}

/** Names the parts of a sanitized request as in reports. */
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
