/** The name under which results show the accumulated risk. */
export const CONVERSATION_RISK = "ConversationRisk";

/** Names in results end with this when the scanner checked the last few user messages together. */
export const WINDOW_SUFFIX = "[window]";

/** Names in results end with this when the scanner checked tool results. */
export const TOOL_SUFFIX = "[tool]";

/** The only name under which assignment cannot add an entry to a JavaScript object. */
const PROTOTYPE = "__proto__";

/** The message for a name that {@link isReservedName} rejects. */
export const RESERVED_NAME =
  `expected another name: ${CONVERSATION_RISK} and names that end in ${WINDOW_SUFFIX} or ${TOOL_SUFFIX} ` +
  `are those of checks of a conversation, and results cannot have an entry ${PROTOTYPE}`;

/**
 * Tells whether a name is not allowed for a scanner. With such a name the result of the scanner would be lost, or would replace the
 * result of another check of a conversation.
 */
export function isReservedName(name: string): boolean {
  return [CONVERSATION_RISK, PROTOTYPE].includes(name) || name.endsWith(WINDOW_SUFFIX) || name.endsWith(TOOL_SUFFIX);
}
