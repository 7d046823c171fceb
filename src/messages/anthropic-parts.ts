import { isRecord } from "../support/is-record.ts";
import { readAllStrings } from "./all-strings.ts";
import { readPartFile, readUrl } from "./files.ts";
import {
  addStrings,
  openDataDraft,
  type PartContext,
  type PartReader,
  type RawPart,
  skip,
  textField,
} from "./part-reader.ts";
import { addToolCall } from "./tool-calls.ts";

const readToolUse: PartReader = (part, context) => {
  addToolCall(
    {
      name: part.name,
      nameKeys: [...context.keys, "name"],
      id: part.id,
      value: part.input,
      keys: [...context.keys, "input"],
    },
    context.keys,
    context,
  );
};

/** Parts inside the results of Anthropic's own tools. Their strings are their whole content. */
const PART_OF_RESULT = /_(?:result|error|reference)$/;

/** A tool result: of the caller, of a tool at the provider, or of MCP (with `structuredContent`). */
const readToolResult: PartReader = (part, context) => {
  const id = part.tool_use_id ?? part.toolUseId;
  const toolName = typeof id === "string" ? context.reader.calls.get(id) : undefined;
  const draft = openDataDraft(context, toolName);
  draft.isKept = true;
  const inner: PartContext = { ...context, draft, depth: context.depth + 1, keys: [...context.keys, "content"] };
  if (part.type === "tool_result" || part.type === "mcp_tool_result") context.readContent(part.content, inner);
  else readProviderResult(part.content, inner);
  draft.addAll(part.structuredContent, [...context.keys, "structuredContent"]);
};

/** Reads the result of a tool at the provider: a part or a list of parts, each with fields of its own. */
function readProviderResult(content: unknown, context: PartContext): void {
  if (Array.isArray(content)) {
    for (const [index, part] of content.entries())
      readProviderResult(part, { ...context, keys: [...context.keys, index] });
    return;
  }
  if (context.isKnownPart(content)) {
    context.readPart(content, context);
    return;
  }
  const isResult = !isRecord(content) || (typeof content.type === "string" && PART_OF_RESULT.test(content.type));
  if (!isResult) context.draft.skipped += 1;
  readAllStrings(content, context);
}

/** A document with text, parts or a file. */
const readDocument: PartReader = (part, context) => {
  const draft = openDataDraft(context);
  addStrings(draft, part, ["title", "context"], context.keys);
  const source: Record<string, unknown> = isRecord(part.source) ? part.source : {};
  const keys = [...context.keys, "source"];
  const inner = { ...context, draft, depth: context.depth + 1 };
  if (source.type === "text" && typeof source.data === "string") draft.add(source.data, [...keys, "data"]);
  else if (source.type === "content") context.readContent(source.content, { ...inner, keys: [...keys, "content"] });
  else if (source.type === "url") readUrl(source.url, [...keys, "url"], inner);
  else readPartFile({ data: source.data, mediaType: source.media_type, keys: [...keys, "data"] }, inner);
};

/** A search result. */
const readSearchResult: PartReader = (part, context) => {
  const draft = openDataDraft(context);
  addStrings(draft, part, ["title", "source"], context.keys);
  context.readContent(part.content, {
    ...context,
    draft,
    depth: context.depth + 1,
    keys: [...context.keys, "content"],
  });
};

/** An image of Anthropic or MCP. It has no text unless its type is textual, such as SVG. */
const readImage: PartReader = (part: RawPart, context) => {
  const source: Record<string, unknown> = isRecord(part.source) ? part.source : {};
  if (source.type === "url") readUrl(source.url, [...context.keys, "source", "url"], context);
  else if (source.type === "base64") {
    readPartFile(
      { data: source.data, mediaType: source.media_type, keys: [...context.keys, "source", "data"] },
      context,
    );
  } else
    readPartFile({ data: part.data, mediaType: part.mimeType ?? "image/*", keys: [...context.keys, "data"] }, context);
};

/** The parts of Anthropic's messages. */
export const anthropicParts = {
  thinking: textField("thinking"),
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
