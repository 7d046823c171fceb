import { isRecord } from "../support/is-record.ts";
import { readAllStrings } from "./all-strings.ts";
import { readPartFile } from "./files.ts";
import { openDataDraft, type PartContext, stringAt } from "./part-reader.ts";
import type { KeyPath } from "./request-reader.ts";
import { addName, addToolCall } from "./tool-calls.ts";
import { readUnknownFields } from "./unknown-fields.ts";

/** Reads a field of a part. */
type FieldReader = (value: Record<string, unknown>, keys: KeyPath, context: PartContext) => void;

const readCall: FieldReader = (call, keys, context) => {
  const { name, id, args, ...rest } = call;
  addToolCall(
    { name, nameKeys: [...keys, "name"], id: id ?? name, value: args, keys: [...keys, "args"] },
    keys,
    context,
  );
  readRest(rest, keys, context, "tool_call");
};

const readResponse: FieldReader = ({ name, id: _, response, parts, ...rest }, keys, context) => {
  const { reader, message } = context;
  const toolName = typeof name === "string" ? name : undefined;
  const draft = reader.open(keys, { source: "tool", message, toolName });
  draft.isKept = true;
  addName(name, [...keys, "name"], draft, reader);
  draft.addAll(response, [...keys, "response"]);
  if (Array.isArray(parts)) context.readContent({ parts }, { ...context, draft, keys, depth: context.depth + 1 });
  readUnknownFields(rest, NO_FIELDS, { ...context, draft, keys });
};

/** Data in base64. */
const readInlineData: FieldReader = (value, keys, context) => {
  const { data, mimeType, mime_type: snakeType, displayName, ...rest } = value;
  const names = [{ value: displayName, keys: [...keys, "displayName"] }];
  readPartFile({ data, mediaType: mimeType ?? snakeType, keys: [...keys, "data"], names }, context);
  readRest(rest, keys, context);
};

const readFileData: FieldReader = (value, keys, context) => {
  context.draft.skipped += 1;
  readRest(value, keys, context);
};

/** Code that the model wrote, and Google ran. */
const readCode: FieldReader = ({ code, language: _, ...rest }, keys, context) => {
  addToolCall({ name: "code_execution", value: code, keys: [...keys, "code"] }, keys, context);
  readRest(rest, keys, context, "tool_call");
};

const readCodeResult: FieldReader = ({ outcome: _, ...rest }, keys, context) => {
  const draft = openDataDraft({ ...context, keys }, "code_execution");
  readAllStrings(rest, { ...context, draft, keys });
};

/** The readers of fields whose value is an object. Google's APIs accept each name in camel case and in snake case. */
const FIELD_READERS: ReadonlyMap<string, FieldReader> = new Map([
  ["functionCall", readCall],
  ["function_call", readCall],
  ["functionResponse", readResponse],
  ["function_response", readResponse],
  ["inlineData", readInlineData],
  ["inline_data", readInlineData],
  ["fileData", readFileData],
  ["file_data", readFileData],
  ["executableCode", readCode],
  ["executable_code", readCode],
  ["codeExecutionResult", readCodeResult],
  ["code_execution_result", readCodeResult],
]);

/** The text, and fields that only the provider reads. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(["text", "thought", "thoughtSignature", "thought_signature"]);
const NO_FIELDS: ReadonlySet<string> = new Set();

/**
 * Reads a part of Google's Gemini API, which has no type: a field tells what it contains.
 *
 * @see https://ai.google.dev/api/caching#Part
 */
export function readGooglePart(part: Readonly<Record<string, unknown>>, context: PartContext): void {
  const { draft, keys } = context;
  const text = stringAt(part, "text", keys);
  if (text !== undefined) draft.add(text, [...keys, "text"]);
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(part)) {
    const read = FIELD_READERS.get(key);
    if (read && isRecord(value)) read(value, [...keys, key], context);
    else rest[key] = value;
  }
  readUnknownFields(rest, KNOWN_FIELDS, context);
}

/** Reads a list of such parts. A part of another shape is read as data, and counts as skipped. */
export function readGoogleParts(parts: readonly unknown[], context: PartContext): void {
  for (const [index, part] of parts.entries()) {
    const inner = { ...context, keys: [...context.keys, index] };
    if (isRecord(part)) readGooglePart(part, inner);
    else readOtherPart(part, inner);
  }
}

/** Reads all strings of a part of an unknown shape as data. */
export function readOtherPart(part: unknown, context: PartContext): void {
  const draft = openDataDraft(context);
  draft.skipped += 1;
  readAllStrings(part, { ...context, draft });
}

/** Reads the fields that a value usually lacks. */
function readRest(
  rest: Record<string, unknown>,
  keys: KeyPath,
  context: PartContext,
  source = context.draft.source,
): void {
  const draft = source === "tool" ? context.draft : context.reader.openBeside(keys, source, context.message);
  readUnknownFields(rest, NO_FIELDS, { ...context, draft, keys });
}
