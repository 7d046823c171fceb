/** The name of the accumulated risk in results. */
export const CONVERSATION_RISK = "ConversationRisk";

/** What names in results end with for the last few user messages together. */
export const WINDOW_SUFFIX = "[window]";

/** What names in results end with for tool results. */
export const TOOL_SUFFIX = "[tool]";

/** What is said of a name that {@link isReservedName} tells. */
export const RESERVED_NAME =
  `expected another name: ${CONVERSATION_RISK} and names that end in ${WINDOW_SUFFIX} or ${TOOL_SUFFIX} ` +
  "are those of checks of a conversation";

/** Whether a scanner cannot have a name: in the results of a conversation one of two checks would take the place of the other. */
export function isReservedName(name: string): boolean {
  return name === CONVERSATION_RISK || name.endsWith(WINDOW_SUFFIX) || name.endsWith(TOOL_SUFFIX);
}
