import type { Source } from "../scan/source.ts";
import { isRecord } from "../support/is-record.ts";
import { readAllStrings } from "./all-strings.ts";
import { readCitations } from "./citations.ts";
import { contentContext, isToolResult, readContent } from "./content.ts";
import { readGooglePart, readOtherPart } from "./google-parts.ts";
import { KNOWN_MESSAGE_FIELDS } from "./known-fields.ts";
import { invalidAt, type PartContext, type RawPart } from "./part-reader.ts";
import type { KeyPath, RequestReader } from "./request-reader.ts";
import { addName, addToolCall } from "./tool-calls.ts";
import { readUiPart } from "./ui-message-parts.ts";
import { parseFieldNames, readUnknownFields } from "./unknown-fields.ts";

/** The roles of OpenAI's chat format, which include those of Anthropic's format and of MCP, and of Gemini, with what each of them says. */
const SOURCES_BY_ROLE = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  model: "assistant",
  tool: "tool",
  function: "tool",
} as const satisfies Record<string, Source>;

/** The roles of messages. */
export const ROLES = Object.keys(SOURCES_BY_ROLE) as (keyof typeof SOURCES_BY_ROLE)[];

/** Reads a message with a role: of OpenAI's chat completions, Anthropic, Gemini, MCP or the AI SDK, or a `message` of the Responses API. */
export function readChatMessage(message: Record<string, unknown>, index: number, reader: RequestReader): void {
  const keys: KeyPath = ["messages", index];
  const { role: given, content, parts } = message;
  // Google accepts a part in place of a list.
  const hasParts = Array.isArray(parts) || isRecord(parts);
  // A request to Gemini may omit the role of its only message.
  const role = (given === undefined || given === null) && hasParts ? "user" : given;
  if (typeof role !== "string" || !Object.hasOwn(SOURCES_BY_ROLE, role)) {
    throw invalidAt([...keys, "role"], `expected one of ${ROLES.join(", ")}`);
  }
  const source = SOURCES_BY_ROLE[role as keyof typeof SOURCES_BY_ROLE];
  const own = reader.open([...keys, hasParts && content === undefined ? "parts" : "content"], {
    source,
    message: index,
    ...(source === "tool" && { toolName: findToolName(message, reader) }),
  });
  const context = contentContext(reader, own, [...keys, "content"]);
  readContent(content, context);
  if (hasParts) readParts(parts, { ...context, keys: [...keys, "parts"] });
  readBesideContent(message, { ...context, keys });
  readCalls(message, { ...context, keys });
  addName(message.name, [...keys, "name"], own, reader);
  readUnknownFields(message, hasParts ? KNOWN_BESIDE_PARTS : KNOWN_MESSAGE_FIELDS, { ...context, keys });
  own.isKept = isKept(message, source);
}

const KNOWN_BESIDE_PARTS: ReadonlySet<string> = new Set(["parts", ...KNOWN_MESSAGE_FIELDS]);

/** Reads `parts`. Those of UI messages of the AI SDK have a type, and those of Gemini have none. */
function readParts(parts: unknown, context: PartContext): void {
  if (isRecord(parts)) readGooglePart(parts, context);
  if (!Array.isArray(parts)) return;
  for (const [index, part] of parts.entries()) {
    const inner = { ...context, keys: [...context.keys, index] };
    if (!isRecord(part)) readOtherPart(part, inner);
    else if (typeof part.type === "string") readUiPart(part as RawPart, inner);
    else readGooglePart(part, inner);
  }
}

/** Returns the name of the tool whose result the message contains. */
function findToolName(message: Record<string, unknown>, reader: RequestReader): string | undefined {
  const { name, tool_call_id: id } = message;
  return typeof name === "string" ? name : typeof id === "string" ? reader.calls.get(id) : undefined;
}

/**
 * Whether a message without text counts as a message. Tool results alone do not make a user message, and tool calls alone do not make an
 * assistant message.
 */
function isKept({ content }: Record<string, unknown>, source: Source): boolean {
  if (source === "tool") return true;
  if (source === "assistant") return typeof content === "string";
  if (source !== "user") return false;
  const parts = Array.isArray(content) ? content : [content];
  return parts.length === 0 || !parts.every((part) => isRecord(part) && (isToolResult(part.type) || !part.type));
}

/** Reads the text of a model beside the content: refusals, reasoning, transcripts of audio, and citations. */
function readBesideContent(message: Record<string, unknown>, context: PartContext): void {
  for (const key of ["reasoning", "reasoning_content", "reasoning_details", "refusal"]) {
    if (message[key] !== undefined && message[key] !== null) {
      readAllStrings(message[key], { ...context, keys: [...context.keys, key] });
    }
  }
  if (isRecord(message.audio)) {
    context.draft.skipped += 1;
    const { transcript } = message.audio;
    if (typeof transcript === "string") context.draft.add(transcript, [...context.keys, "audio", "transcript"]);
  }
  readCitations(message, context);
}

function readCalls(message: Record<string, unknown>, context: PartContext): void {
  const { tool_calls: calls, function_call: legacy } = message;
  if (legacy !== undefined && legacy !== null) {
    const legacyKeys = [...context.keys, "function_call"];
    if (!isRecord(legacy)) throw invalidAt(legacyKeys, "expected a function call");
    readCall(legacy, undefined, legacyKeys, context);
  }
  if (calls === undefined || calls === null) return;
  const keys = [...context.keys, "tool_calls"];
  if (!Array.isArray(calls)) throw invalidAt(keys, "expected an array of tool calls");
  for (const [index, call] of calls.entries()) {
    const callKeys = [...keys, index];
    if (!isRecord(call)) throw invalidAt(callKeys, "expected a tool call");
    const inner = ["function", "custom"].filter((name) => isRecord(call[name]));
    for (const name of inner) readCall(call[name] as Record<string, unknown>, call.id, callKeys, context, name);
    if (inner.length === 0) readCall(call, call.id, callKeys, context);
    else readCallExtras(call, WRAPPER_FIELDS, { ...context, keys: callKeys });
  }
}

/** @param inner the key below `keys` with the name and the arguments. */
function readCall(
  call: Record<string, unknown>,
  id: unknown,
  keys: KeyPath,
  context: PartContext,
  ...inner: string[]
): void {
  const callKeys = [...keys, ...inner];
  const key = call.arguments === undefined ? "input" : "arguments";
  addToolCall(
    { name: call.name, nameKeys: [...callKeys, "name"], id, value: call[key], keys: [...callKeys, key] },
    keys,
    context,
  );
  readCallExtras(call, CALL_FIELDS[key], { ...context, keys: callKeys });
}

/** The known fields of a call, by the key of its arguments. */
const CALL_FIELDS = {
  arguments: parseFieldNames("type index name arguments"),
  input: parseFieldNames("type index name input"),
};
/** The known fields of a call whose name and arguments are in an object inside it. */
const WRAPPER_FIELDS = parseFieldNames("type index function custom");

/** Reads the fields that a call usually lacks, and its id if it may contain an instruction. */
function readCallExtras(call: Record<string, unknown>, known: ReadonlySet<string>, context: PartContext): void {
  const draft = context.reader.openBeside(context.keys, "tool_call", context.message);
  readUnknownFields(call, known, { ...context, draft });
}
