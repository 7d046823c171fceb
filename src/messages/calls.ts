import { isPlainName } from "./names.ts";
import type { At } from "./part.ts";
import type { Draft, Keys, Reading } from "./reading.ts";

/** A call of a tool, as any API writes it. */
export interface RawCall {
  name: unknown;
  /** Where the name stands. It is absent for tools that have no name of their own. */
  nameKeys?: Keys;
  id?: unknown;
  /** The arguments: a text, or an object. */
  value: unknown;
  /** Where they stand. */
  keys: Keys;
}

/**
 * Adds the arguments of a call as a text, and the name of the tool as another one where it could carry an order and is not that of a
 * tool that the request defines.
 *
 * @param keys where the call stands.
 */
export function addCall(
  { name: given, nameKeys, id, value, keys: valueKeys }: RawCall,
  keys: Keys,
  { reading, message }: Pick<At, "reading" | "message">,
): Draft {
  const name = typeof given === "string" ? given : "";
  const toolCall: { name: string; id?: string; arguments: unknown } = { name, arguments: value };
  if (typeof id === "string") {
    toolCall.id = id;
    reading.calls.set(id, name);
  }
  const draft = reading.open(keys, { source: "tool_call", message, toolCall });
  draft.keep = true;
  if (typeof value === "string") toolCall.arguments = draft.add(value, valueKeys) ?? value;
  else draft.addAll(value, valueKeys);
  if (nameKeys) addName(name, nameKeys, draft, reading);
  return draft;
}

/** Reads a name that stands beside a text, where it could carry an order and is not that of a tool that the request defines. */
export function addName(name: unknown, keys: Keys, draft: Draft, reading: Reading): void {
  if (typeof name !== "string" || name === "" || isPlainName(name) || reading.tools.has(name)) return;
  reading.open(keys, { source: draft.source, message: draft.fields.message, isBeside: true }).add(name, keys);
}
