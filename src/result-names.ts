/** The name of the accumulated risk in results. */
export const CONVERSATION_RISK = "ConversationRisk";

/** What names in results end with for the last few user messages together. */
export const WINDOW_SUFFIX = "[window]";

/** What names in results end with for tool results. */
export const TOOL_SUFFIX = "[tool]";

/** The only name that an object of JavaScript cannot have an entry of by assignment. */
const PROTOTYPE = "__proto__";

/** What is said of a name that {@link isReservedName} tells. */
export const RESERVED_NAME =
  `expected another name: ${CONVERSATION_RISK} and names that end in ${WINDOW_SUFFIX} or ${TOOL_SUFFIX} ` +
  `are those of checks of a conversation, and results cannot have an entry ${PROTOTYPE}`;

/** Whether a scanner cannot have a name: its result would be lost, or take the place of another check of a conversation. */
export function isReservedName(name: string): boolean {
  return [CONVERSATION_RISK, PROTOTYPE].includes(name) || name.endsWith(WINDOW_SUFFIX) || name.endsWith(TOOL_SUFFIX);
}
