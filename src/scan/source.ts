/**
 * Where a text comes from. `user`: whoever may give the model orders. `tool`: tool and function results, retrieved documents, pages
 * and mails, which nobody who may give orders has written. `assistant`: what the model wrote. `tool_call`: the arguments of a tool
 * call, which the model wrote. `tool_definition`: the name, description and schema of a tool. `system`: system and developer messages.
 */
export const SOURCES = ["user", "tool", "assistant", "tool_call", "tool_definition", "system"] as const;
export type Source = (typeof SOURCES)[number];

/** Texts of a conversation for which the scanners can be named: those of a source, and those that the model has answered already. */
export const SCAN_GROUPS = [...SOURCES, "history"] as const;
export type ScanGroup = (typeof SCAN_GROUPS)[number];
