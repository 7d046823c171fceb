import { isRecord } from "../support/is-record.ts";
import { anthropicParts } from "./anthropic-parts.ts";
import { fieldsOfPart } from "./known-fields.ts";
import { readLoosely } from "./loose.ts";
import { mcpParts } from "./mcp-parts.ts";
import { openaiParts } from "./openai-parts.ts";
import { type At, dataDraft, fault, type PartReader, type RawPart } from "./part.ts";
import type { Draft, Keys, Reading } from "./reading.ts";
import { readRest } from "./rest.ts";

/** How deep tool results and documents may be nested in each other. */
const MOST_NESTED = 8;

const PARTS: ReadonlyMap<string, PartReader> = new Map([
  ...Object.entries(openaiParts),
  ...Object.entries(anthropicParts),
  ...Object.entries(mcpParts),
]);

/** What reads a part of a type. `*_tool_result` is open-ended: each tool that runs at Anthropic has its own. */
function readerOf(type: string): PartReader | undefined {
  return PARTS.get(type) ?? (isToolResult(type) ? anthropicParts.tool_result : undefined);
}

/** Whether a type is that of a result of a tool in the content of a message. */
export function isToolResult(type: unknown): boolean {
  return typeof type === "string" && /(?:^|_)tool_result$/.test(type);
}

/** Begins to read content. */
export function contentAt(reading: Reading, into: Draft, keys: Keys): At {
  return { reading, into, message: into.fields.message, keys, depth: 0, content: readContent, part: readPart, isKnown };
}

/**
 * Reads the content of a message, a tool result or a document: a string, null, a part, an array of strings and parts, or the result of
 * an MCP tool.
 */
export function readContent(content: unknown, at: At): void {
  if (content === null || content === undefined) return;
  if (typeof content === "string") {
    at.into.add(content, at.keys);
    return;
  }
  checkDepth(at);
  if (isRecord(content)) {
    if (typeof content.type === "string") readPart(content as RawPart, at);
    else if (Array.isArray(content.content)) readMcpResult(content, at);
    else throw fault(at.keys, "expected a string, null, a part or an array of parts");
    return;
  }
  if (!Array.isArray(content)) throw fault(at.keys, "expected a string, null, a part or an array of parts");
  for (const [index, part] of content.entries()) {
    const keys = [...at.keys, index];
    if (typeof part === "string") at.into.add(part, keys);
    else if (!isRecord(part) || typeof part.type !== "string") throw fault(keys, "expected a part with a type");
    else readPart(part as RawPart, { ...at, keys });
  }
}

/** Reads `{ content, structuredContent }`, which is what a tool of MCP returns. */
function readMcpResult(result: Record<string, unknown>, at: At): void {
  const into = dataDraft(at);
  const inner = { ...at, into, depth: at.depth + 1 };
  readContent(result.content, { ...inner, keys: [...at.keys, "content"] });
  into.addAll(result.structuredContent, [...at.keys, "structuredContent"]);
}

/** Reads a part of any known type, and the strings of a part of an unknown one. */
function readPart(part: RawPart, at: At): void {
  checkDepth(at);
  const reader = readerOf(part.type);
  if (reader) {
    reader(part, at);
    readUnknownFields(part, at);
    return;
  }
  // Nobody knows what else is in such a part, so it counts as skipped in any case.
  at.into.skipped += 1;
  if (typeof part.text === "string") at.into.add(part.text, [...at.keys, "text"]);
  const { text: _, ...rest } = part;
  readLoosely(typeof part.text === "string" ? rest : part, { ...at, into: dataDraft(at) });
}

/** Types of parts that others than the author of the message have written. */
const DATA = /^(?:document|search_result|resource|resource_link)$/;

/** Reads what stands in a part of a known type beside the fields of that type. */
function readUnknownFields(part: RawPart, at: At): void {
  const known = fieldsOfPart(part.type);
  if (!known) return;
  const isData = DATA.test(part.type) || isToolResult(part.type);
  if (known.has("text") || isData || typeof part.text !== "string") {
    const isAside = isData && at.into.source !== "tool";
    readRest(part, known, isAside ? { ...at, into: at.reading.aside(at.keys, "tool", at.message) } : at);
    return;
  }
  // A text beside an image or a file is said as any other.
  const { text, ...rest } = part;
  at.into.add(text, [...at.keys, "text"]);
  readRest(rest, known, at);
}

/** Whether an object inside another one is a part that has a reader of its own. */
function isKnown(value: unknown): value is RawPart {
  return isRecord(value) && typeof value.type === "string" && readerOf(value.type) !== undefined;
}

function checkDepth({ depth, keys }: At): void {
  if (depth > MOST_NESTED) throw fault(keys, `expected no more than ${MOST_NESTED} nested tool results`);
}
