import { isRecord } from "../support/is-record.ts";
import { readAllStrings } from "./all-strings.ts";
import { anthropicParts } from "./anthropic-parts.ts";
import { readGooglePart, readGoogleParts } from "./google-parts.ts";
import { knownPartFields } from "./known-fields.ts";
import { mcpParts } from "./mcp-parts.ts";
import { openaiParts } from "./openai-parts.ts";
import { invalidAt, openDataDraft, type PartContext, type PartReader, type RawPart } from "./part-reader.ts";
import type { KeyPath, RequestReader, TextDraft } from "./request-reader.ts";
import { readUnknownFields } from "./unknown-fields.ts";

/** The maximum nesting of tool results and documents. */
const MAX_NESTING = 8;

const PART_READERS: ReadonlyMap<string, PartReader> = new Map([
  ...Object.entries(openaiParts),
  ...Object.entries(anthropicParts),
  ...Object.entries(mcpParts),
]);

/** Returns the reader of a type. Each tool that runs at Anthropic has a `*_tool_result` of its own. */
function readerOf(type: string): PartReader | undefined {
  return PART_READERS.get(type) ?? (isToolResult(type) ? anthropicParts.tool_result : undefined);
}

/** Whether a type is that of a tool result in the content of a message. */
export function isToolResult(type: unknown): boolean {
  return typeof type === "string" && /(?:^|_)tool_result$/.test(type);
}

/** Returns the context for reading content at the top level. */
export function contentContext(reader: RequestReader, draft: TextDraft, keys: KeyPath): PartContext {
  return { reader, draft, message: draft.fields.message, keys, depth: 0, readContent, readPart, isKnownPart: isKnown };
}

/** Reads the content of a message, a tool result or a document: a string, null, a part, strings and parts, an MCP tool result, or `{ parts }` of Gemini. */
export function readContent(content: unknown, context: PartContext): void {
  if (content === null || content === undefined) return;
  if (typeof content === "string") {
    context.draft.add(content, context.keys);
    return;
  }
  checkDepth(context);
  if (isRecord(content)) {
    if (typeof content.type === "string") readPart(content as RawPart, context);
    else if (Array.isArray(content.content)) readMcpResult(content, context);
    else if (Array.isArray(content.parts))
      readGoogleParts(content.parts, { ...context, keys: [...context.keys, "parts"] });
    else if (isRecord(content.parts)) readGooglePart(content.parts, { ...context, keys: [...context.keys, "parts"] });
    else throw invalidAt(context.keys, "expected a string, null, a part or an array of parts");
    return;
  }
  if (!Array.isArray(content)) throw invalidAt(context.keys, "expected a string, null, a part or an array of parts");
  for (const [index, part] of content.entries()) {
    const keys = [...context.keys, index];
    if (typeof part === "string") context.draft.add(part, keys);
    else if (!isRecord(part) || typeof part.type !== "string") throw invalidAt(keys, "expected a part with a type");
    else readPart(part as RawPart, { ...context, keys });
  }
}

/** Reads `{ content, structuredContent }`, the result of an MCP tool. */
function readMcpResult(result: Record<string, unknown>, context: PartContext): void {
  const draft = openDataDraft(context);
  const inner = { ...context, draft, depth: context.depth + 1 };
  readContent(result.content, { ...inner, keys: [...context.keys, "content"] });
  draft.addAll(result.structuredContent, [...context.keys, "structuredContent"]);
}

/** Reads a part of a known type, or all strings of a part of an unknown type. */
function readPart(part: RawPart, context: PartContext): void {
  checkDepth(context);
  const reader = readerOf(part.type);
  if (reader) {
    reader(part, context);
    readOtherFields(part, context);
    return;
  }
  // The part may contain more than strings, so it always counts as skipped.
  context.draft.skipped += 1;
  if (typeof part.text === "string") context.draft.add(part.text, [...context.keys, "text"]);
  const { text: _, ...rest } = part;
  readAllStrings(typeof part.text === "string" ? rest : part, { ...context, draft: openDataDraft(context) });
}

/** Types of parts whose text the message's author did not write. */
const DATA_TYPES = /^(?:document|search_result|resource|resource_link)$/;

/** Reads the fields of a part that are not fields of its known type. */
function readOtherFields(part: RawPart, context: PartContext): void {
  const known = knownPartFields(part.type);
  if (!known) return;
  const isData = DATA_TYPES.test(part.type) || isToolResult(part.type);
  if (known.has("text") || isData || typeof part.text !== "string") {
    const isAside = isData && context.draft.source !== "tool";
    readUnknownFields(
      part,
      known,
      isAside ? { ...context, draft: context.reader.openBeside(context.keys, "tool", context.message) } : context,
    );
    return;
  }
  // A text beside an image or a file belongs to the message.
  const { text, ...rest } = part;
  context.draft.add(text, [...context.keys, "text"]);
  readUnknownFields(rest, known, context);
}

/** Whether a value is a part with a reader of its own. */
function isKnown(value: unknown): value is RawPart {
  return isRecord(value) && typeof value.type === "string" && readerOf(value.type) !== undefined;
}

function checkDepth({ depth, keys }: PartContext): void {
  if (depth > MAX_NESTING) throw invalidAt(keys, `expected no more than ${MAX_NESTING} nested tool results`);
}
