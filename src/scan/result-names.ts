import { SOURCES, type Source } from "./source.ts";

/** The name under which results show the accumulated risk. */
export const CONVERSATION_RISK = "ConversationRisk";

/** Names in results end with this when the scanner checked the last few user messages together. */
export const WINDOW_SUFFIX = "[window]";

/** Names in results end with this when the scanner checked what the model has answered already. */
export const HISTORY_SUFFIX = "[history]";

/** What names in results end with when the scanner checked texts of a source. Texts of users have no suffix. */
export function sourceSuffix(source: Source): string {
  return source === "user" ? "" : `[${source}]`;
}

/** All suffixes that the checks of a conversation add to names. */
export const SUFFIXES: readonly string[] = [
  WINDOW_SUFFIX,
  HISTORY_SUFFIX,
  ...SOURCES.filter((source) => source !== "user").map(sourceSuffix),
];

/** The checks that failed: those whose risk score is above 0. */
export function failingChecks(resultsScore: Readonly<Record<string, number>>): string[] {
  return Object.keys(resultsScore).filter((check) => (resultsScore[check] ?? 0) > 0);
}

/** The only name under which assignment cannot add an entry to a JavaScript object. */
const PROTOTYPE = "__proto__";

/** The message for a name that {@link isReservedName} rejects. */
export const RESERVED_NAME =
  `expected another name: ${CONVERSATION_RISK} and names that end in ${SUFFIXES.slice(0, -1).join(", ")} or ${SUFFIXES.at(-1)} ` +
  `are those of checks of a conversation, and results cannot have an entry ${PROTOTYPE}`;

/**
 * Tells whether a name is not allowed for a scanner. With such a name the result of the scanner would be lost, or would replace the
 * result of another check of a conversation.
 */
export function isReservedName(name: string): boolean {
  return [CONVERSATION_RISK, PROTOTYPE].includes(name) || SUFFIXES.some((suffix) => name.endsWith(suffix));
}
