/**
 * The source of a text. `user`: a person who may instruct the model. `tool`: tool and function results, retrieved documents, pages and
 * mails, whose authors may not instruct the model. `assistant`: answers of the model. `tool_call`: the arguments of a tool call by the
 * model. `tool_definition`: the name, description and schema of a tool. `system`: system and developer messages.
 */
export const SOURCES = ["user", "tool", "assistant", "tool_call", "tool_definition", "system"] as const;
export type Source = (typeof SOURCES)[number];

/** Groups of texts with their own scanners: the texts of a source, and messages that the model has already answered. */
export const SCAN_GROUPS = [...SOURCES, "history"] as const;
export type ScanGroup = (typeof SCAN_GROUPS)[number];
