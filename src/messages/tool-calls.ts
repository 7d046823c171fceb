import { invalidAt, type PartContext } from "./part-reader.ts";
import type { KeyPath, RequestReader, TextDraft } from "./request-reader.ts";
import { isPlainName } from "./text-checks.ts";

/** A tool call of any API. */
export interface RawToolCall {
  name: unknown;
  /** The path of the name. It is absent for tools without a name of their own. */
  nameKeys?: KeyPath;
  id?: unknown;
  /** The arguments: a string or an object. */
  value: unknown;
  /** The path of the arguments. */
  keys: KeyPath;
}

/**
 * Adds the arguments of a call as a text. The name of the tool becomes another text if it may contain an instruction and the request
 * defines no such tool.
 *
 * @param keys the path of the call.
 */
export function addToolCall(
  { name: given, nameKeys, id, value, keys: valueKeys }: RawToolCall,
  keys: KeyPath,
  { reader, message }: Pick<PartContext, "reader" | "message">,
): TextDraft {
  const name = typeof given === "string" ? given : "";
  const toolCall: { name: string; id?: string; arguments: unknown } = { name, arguments: value };
  if (typeof id === "string") {
    toolCall.id = id;
    reader.calls.set(id, name);
  }
  const draft = reader.open(keys, { source: "tool_call", message, toolCall });
  draft.isKept = true;
  if (typeof value === "string") toolCall.arguments = draft.add(value, valueKeys) ?? value;
  else draft.addAll(value, valueKeys);
  if (nameKeys) addName(given, nameKeys, draft, reader);
  return draft;
}

/** Adds a name beside a text, if it may contain an instruction and the request defines no tool with that name. */
export function addName(name: unknown, keys: KeyPath, draft: TextDraft, reader: RequestReader): void {
  if (name === undefined || name === null) return;
  if (typeof name !== "string") throw invalidAt(keys, "expected a string");
  if (name === "" || isPlainName(name) || reader.tools.has(name)) return;
  reader.openBeside(keys, draft.source, draft.fields.message).add(name, keys);
}
