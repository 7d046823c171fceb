import type { Source } from "../scan/source.ts";
import { isRecord } from "../support/is-record.ts";
import { addCall, addName } from "./calls.ts";
import { readCitations } from "./citations.ts";
import { FIELDS_OF_MESSAGE } from "./known-fields.ts";
import { readLoosely } from "./loose.ts";
import { type At, fault } from "./part.ts";
import { contentAt, isToolResult, readContent } from "./parts.ts";
import type { Keys, Reading } from "./reading.ts";
import { readRest } from "./rest.ts";

/** The roles of OpenAI's chat format, which include those of Anthropic's format and of MCP, with what each of them says. */
const SOURCE_OF_ROLE = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
} as const satisfies Record<string, Source>;

/** The roles of messages. */
export const ROLES = Object.keys(SOURCE_OF_ROLE) as (keyof typeof SOURCE_OF_ROLE)[];

/** Reads a message that has a role: of OpenAI's chat completions, of Anthropic, of MCP, or a `message` of the Responses API. */
export function readChatMessage(message: Record<string, unknown>, index: number, reading: Reading): void {
  const keys: Keys = ["messages", index];
  const { role, content } = message;
  if (typeof role !== "string" || !Object.hasOwn(SOURCE_OF_ROLE, role)) {
    throw fault([...keys, "role"], `expected one of ${ROLES.join(", ")}`);
  }
  const source = SOURCE_OF_ROLE[role as keyof typeof SOURCE_OF_ROLE];
  const own = reading.open([...keys, "content"], {
    source,
    message: index,
    ...(source === "tool" && { toolName: nameOfTool(message, reading) }),
  });
  const at = contentAt(reading, own, [...keys, "content"]);
  readContent(content, at);
  readBesideContent(message, { ...at, keys });
  readCalls(message, { ...at, keys });
  addName(message.name, [...keys, "name"], own, reading);
  readRest(message, FIELDS_OF_MESSAGE, { ...at, keys });
  own.keep = isKept(message, source);
}

/** The name of the tool whose result a message is. */
function nameOfTool(message: Record<string, unknown>, reading: Reading): string | undefined {
  const { name, tool_call_id: id } = message;
  return typeof name === "string" ? name : typeof id === "string" ? reading.calls.get(id) : undefined;
}

/**
 * Whether a message counts as one even when it says nothing. Tool results alone do not make a user message, and tool calls alone not a
 * message of the assistant.
 */
function isKept({ content }: Record<string, unknown>, source: Source): boolean {
  if (source === "tool") return true;
  if (source === "assistant") return typeof content === "string";
  if (source !== "user") return false;
  const parts = Array.isArray(content) ? content : [content];
  return parts.length === 0 || !parts.every((part) => isRecord(part) && (isToolResult(part.type) || !part.type));
}

/** Reads what a model says beside the content: refusals, reasoning, what was said in a sound, and where it has something from. */
function readBesideContent(message: Record<string, unknown>, at: At): void {
  for (const key of ["reasoning", "reasoning_content", "reasoning_details", "refusal"]) {
    if (message[key] !== undefined && message[key] !== null) {
      readLoosely(message[key], { ...at, keys: [...at.keys, key] });
    }
  }
  if (isRecord(message.audio)) {
    at.into.skipped += 1;
    const { transcript } = message.audio;
    if (typeof transcript === "string") at.into.add(transcript, [...at.keys, "audio", "transcript"]);
  }
  readCitations(message, at);
}

function readCalls(message: Record<string, unknown>, at: At): void {
  const { tool_calls: calls, function_call: legacy } = message;
  if (isRecord(legacy)) readCall(legacy, undefined, [...at.keys, "function_call"], at);
  if (calls === undefined || calls === null) return;
  const keys = [...at.keys, "tool_calls"];
  if (!Array.isArray(calls)) throw fault(keys, "expected an array of tool calls");
  for (const [index, call] of calls.entries()) {
    const place = [...keys, index];
    if (!isRecord(call)) throw fault(place, "expected a tool call");
    if (isRecord(call.function)) readCall(call.function, call.id, place, at, "function");
    else if (isRecord(call.custom)) readCall(call.custom, call.id, place, at, "custom");
    else readCall(call, call.id, place, at);
  }
}

/** @param inner the key below `keys` where name and arguments stand. */
function readCall(call: Record<string, unknown>, id: unknown, keys: Keys, at: At, ...inner: string[]): void {
  const place = [...keys, ...inner];
  const key = call.arguments === undefined ? "input" : "arguments";
  addCall({ name: call.name, nameKeys: [...place, "name"], id, value: call[key], keys: [...place, key] }, keys, at);
}
