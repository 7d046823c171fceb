import { isRecord } from "../support/is-record.ts";
import { addCall } from "./calls.ts";
import { readFileIn, readUrl } from "./files.ts";
import { readLoosely } from "./loose.ts";
import { type At, dataDraft, type PartReader, type RawPart, skip, textAt } from "./part.ts";

const readToolUse: PartReader = (part, at) => {
  addCall(
    { name: part.name, nameKeys: [...at.keys, "name"], id: part.id, value: part.input, keys: [...at.keys, "input"] },
    at.keys,
    at,
  );
};

/** The parts inside the results of Anthropic's own tools, which end in one of these, have only text and what is no text. */
const PART_OF_RESULT = /_(?:result|error|reference)$/;

/** A result of a tool: of the caller's, of one that runs at the provider, or of MCP (with `structuredContent`). */
const readToolResult: PartReader = (part, at) => {
  const id = part.tool_use_id ?? part.toolUseId;
  const toolName = typeof id === "string" ? at.reading.calls.get(id) : undefined;
  const into = dataDraft(at, toolName);
  into.keep = true;
  const inner: At = { ...at, into, depth: at.depth + 1, keys: [...at.keys, "content"] };
  if (part.type === "tool_result" || part.type === "mcp_tool_result") at.content(part.content, inner);
  else readProviderResult(part.content, inner);
  into.addAll(part.structuredContent, [...at.keys, "structuredContent"]);
};

/** Reads the content of a result whose tool runs at the provider: a part, or a list of them, each with fields of its own. */
function readProviderResult(content: unknown, at: At): void {
  if (Array.isArray(content)) {
    for (const [index, part] of content.entries()) readProviderResult(part, { ...at, keys: [...at.keys, index] });
    return;
  }
  if (at.isKnown(content)) {
    at.part(content, at);
    return;
  }
  const isResult = !isRecord(content) || (typeof content.type === "string" && PART_OF_RESULT.test(content.type));
  if (!isResult) at.into.skipped += 1;
  readLoosely(content, at);
}

/** A document, with its text, its parts, or a file. */
const readDocument: PartReader = (part, at) => {
  const into = dataDraft(at);
  for (const key of ["title", "context"]) {
    if (typeof part[key] === "string") into.add(part[key], [...at.keys, key]);
  }
  const source: Record<string, unknown> = isRecord(part.source) ? part.source : {};
  const keys = [...at.keys, "source"];
  const inner = { ...at, into, depth: at.depth + 1 };
  if (source.type === "text" && typeof source.data === "string") into.add(source.data, [...keys, "data"]);
  else if (source.type === "content") at.content(source.content, { ...inner, keys: [...keys, "content"] });
  else if (source.type === "url") readUrl(source.url, [...keys, "url"], inner);
  else readFileIn({ data: source.data, mediaType: source.media_type, keys: [...keys, "data"] }, inner);
};

/** A passage that a search found. */
const readSearchResult: PartReader = (part, at) => {
  const into = dataDraft(at);
  for (const key of ["title", "source"]) {
    if (typeof part[key] === "string") into.add(part[key], [...at.keys, key]);
  }
  at.content(part.content, { ...at, into, depth: at.depth + 1, keys: [...at.keys, "content"] });
};

/** An image, as Anthropic and MCP write it. It has no text, except one of a textual type, such as SVG. */
const readImage: PartReader = (part: RawPart, at) => {
  const source: Record<string, unknown> = isRecord(part.source) ? part.source : {};
  if (source.type === "url") readUrl(source.url, [...at.keys, "source", "url"], at);
  else if (source.type === "base64") {
    readFileIn({ data: source.data, mediaType: source.media_type, keys: [...at.keys, "source", "data"] }, at);
  } else readFileIn({ data: part.data, mediaType: part.mimeType ?? "image/*", keys: [...at.keys, "data"] }, at);
};

/** The parts of Anthropic's messages. */
export const anthropicParts = {
  thinking: textAt("thinking"),
  redacted_thinking: skip,
  tool_use: readToolUse,
  server_tool_use: readToolUse,
  mcp_tool_use: readToolUse,
  tool_result: readToolResult,
  document: readDocument,
  search_result: readSearchResult,
  image: readImage,
  container_upload: skip,
} satisfies Record<string, PartReader>;
