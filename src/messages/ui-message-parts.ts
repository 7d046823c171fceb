import { isRecord } from "../support/is-record.ts";
import { isEncodedFile, readAllStrings } from "./all-strings.ts";
import { readUrl } from "./files.ts";
import { addStrings, openDataDraft, type PartContext, type PartReader, type RawPart, stringAt } from "./part-reader.ts";
import type { KeyPath, TextDraft } from "./request-reader.ts";
import { isPlainName } from "./text-checks.ts";
import { addToolCall } from "./tool-calls.ts";
import { parseFieldNames, readUnknownFields } from "./unknown-fields.ts";

/** Options for providers: ids and signatures, and rarely a text. */
const METADATA: ReadonlySet<string> = new Set(["providerMetadata", "callProviderMetadata", "resultProviderMetadata"]);

/**
 * Reads a part of a UI message of the AI SDK (`UIMessage` in its versions 5 and 6). A part of an assistant message has the arguments of a
 * tool call and, later, its result.
 *
 * @see https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message
 */
export function readUiPart(part: RawPart, context: PartContext): void {
  const read: RawPart = { type: part.type };
  for (const [key, value] of Object.entries(part)) {
    if (METADATA.has(key)) readMetadata(value, { ...context, keys: [...context.keys, key] });
    // All states are read, because the program decides which parts it sends.
    else if (key !== "state" || !isState(value)) read[key] = value;
  }
  const reader = readerOf(read);
  if (reader) reader(read, context);
  else context.readPart(read, context);
}

function isState(value: unknown): boolean {
  return typeof value === "string" && isPlainName(value);
}

function readMetadata(value: unknown, context: PartContext): void {
  const draft = context.reader.openBeside(context.keys, context.draft.source, context.message);
  readAllStrings(value, { ...context, draft }, (text) => /\s/.test(text));
}

function readerOf(part: RawPart): PartReader | undefined {
  const { type } = part;
  if (type === "dynamic-tool") return readDynamicTool;
  if (type === "tool-invocation" && isRecord(part.toolInvocation)) return readInvocation;
  if (type.startsWith(TOOL_PREFIX)) return readTool;
  if (type.startsWith("data-")) return readData;
  return READERS.get(type);
}

const FILE_FIELDS = parseFieldNames("type url mediaType filename");

/** The URL of a file is often a data URL. */
const readFile: PartReader = (part, context) => {
  const filename = stringAt(part, "filename", context.keys);
  readUrl(part.url, [...context.keys, "url"], context, [{ value: filename, keys: [...context.keys, "filename"] }]);
  readUnknownFields(part, FILE_FIELDS, context);
};

const SOURCE_FIELDS = parseFieldNames("type sourceId mediaType title filename");

/** A page or document that a provider has found. */
const readSource: PartReader = (part, context) => {
  const draft = context.reader.openBeside(context.keys, "tool", context.message);
  addStrings(draft, part, ["title", "filename"], context.keys);
  readUnknownFields(part, SOURCE_FIELDS, { ...context, draft });
};

/** Data of the program, which may send them to the model as a text. */
const readData: PartReader = ({ data, ...rest }, context) => {
  const draft = openDataDraft(context);
  addOutput(draft, data, [...context.keys, "data"], context);
  readUnknownFields(rest, NO_FIELDS, { ...context, draft });
};

const NO_FIELDS = parseFieldNames("type");

const READERS: ReadonlyMap<string, PartReader> = new Map([
  ["file", readFile],
  ["source-url", readSource],
  ["source-document", readSource],
  ["step-start", (part, context) => readUnknownFields(part, NO_FIELDS, context)],
]);

/** The type of a tool with a definition is `tool-` and its name. */
const TOOL_PREFIX = "tool-";

const readTool: PartReader = (part, context) => {
  const { reader, message, keys } = context;
  const name = part.type.slice(TOOL_PREFIX.length);
  if (!isPlainName(name) && !reader.tools.has(name)) {
    const toType = (name: string) => `${TOOL_PREFIX}${name}`.replace(/\p{Surrogate}/gu, "\ufffd");
    reader.openBeside(keys, "tool_call", message).add(name, [...keys, "type"], toType);
  }
  readToolPart(part, { name }, context);
};

const readDynamicTool: PartReader = (part, context) => {
  readToolPart(part, { name: part.toolName, nameKeys: [...context.keys, "toolName"] }, context);
};

const TOOL_FIELDS = parseFieldNames(
  "type toolName toolCallId input rawInput inputEncoding output errorText approval.id approval.signature approval.reason",
);

function readToolPart(part: RawPart, named: { name: unknown; nameKeys?: KeyPath }, context: PartContext): void {
  const { reader, message, keys } = context;
  const { toolCallId: id, input, rawInput, output, approval } = part;
  // Arguments that do not match the schema of the tool are only in rawInput.
  const key = input === undefined ? "rawInput" : "input";
  const call = addToolCall({ ...named, id, value: part[key], keys: [...keys, key] }, keys, context);
  if (key === "input") call.addAll(rawInput, [...keys, "rawInput"]);
  const toolName = typeof named.name === "string" ? named.name : undefined;
  const result = reader.open([...keys, "output"], { source: "tool", message, toolName });
  addOutput(result, output, [...keys, "output"], context);
  addStrings(result, part, ["errorText"], keys);
  if (isRecord(approval)) {
    const approvalKeys = [...keys, "approval"];
    addStrings(reader.openBeside(approvalKeys, "user", message), approval, ["reason"], approvalKeys);
  }
  readUnknownFields(part, TOOL_FIELDS, { ...context, draft: reader.openBeside(keys, "tool_call", message) });
}

/** A tool of version 4: `{ toolInvocation: { toolName, toolCallId, args, result } }`. */
const readInvocation: PartReader = (part, context) => {
  const keys = [...context.keys, "toolInvocation"];
  const { toolName, toolCallId: id, args, result } = part.toolInvocation as Record<string, unknown>;
  const call = { name: toolName, nameKeys: [...keys, "toolName"], id, value: args, keys: [...keys, "args"] };
  addToolCall(call, keys, context);
  const name = typeof toolName === "string" ? toolName : undefined;
  const draft = context.reader.open([...keys, "result"], { source: "tool", message: context.message, toolName: name });
  addOutput(draft, result, [...keys, "result"], context);
  readUnknownFields(part, INVOCATION_FIELDS, {
    ...context,
    draft: context.reader.openBeside(keys, "tool_call", context.message),
  });
};

const INVOCATION_FIELDS = parseFieldNames(
  "type toolInvocation.toolName toolInvocation.toolCallId toolInvocation.args toolInvocation.result",
);

/** Adds all strings of a result. The content of an MCP result is read as its parts, which can be images. */
function addOutput(draft: TextDraft, output: unknown, keys: KeyPath, context: PartContext): void {
  const isRead = (text: string) => {
    const isFile = isEncodedFile(text);
    if (isFile) draft.skipped += 1;
    return !isFile;
  };
  if (!isRecord(output) || !Array.isArray(output.content) || !output.content.every(context.isKnownPart)) {
    draft.addAll(output, keys, isRead);
    return;
  }
  const { content, ...rest } = output;
  context.readContent(content, { ...context, draft, depth: context.depth + 1, keys: [...keys, "content"] });
  draft.addAll(rest, keys, isRead);
}
