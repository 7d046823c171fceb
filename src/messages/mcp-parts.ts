import { isRecord } from "../support/is-record.ts";
import { readPartFile } from "./files.ts";
import { addStrings, openDataDraft, type PartReader, skip, stringAt } from "./part-reader.ts";

/** A resource inside a message: text or a file. */
const readResource: PartReader = (part, context) => {
  const resource = isRecord(part.resource) ? part.resource : {};
  const keys = [...context.keys, "resource"];
  const text = stringAt(resource, "text", keys);
  if (text !== undefined) openDataDraft(context).add(text, [...keys, "text"]);
  if (text === undefined || resource.blob !== undefined) {
    readPartFile({ data: resource.blob, mediaType: resource.mimeType, keys: [...keys, "blob"] }, context);
  }
};

/** A link to a resource. The MCP server chose its name and description. */
const readResourceLink: PartReader = (part, context) => {
  context.draft.skipped += 1;
  const draft = openDataDraft(context);
  addStrings(draft, part, ["name", "title", "description"], context.keys);
};

/** The parts of prompts and tool results of MCP. `text`, `image`, `tool_use` and `tool_result` have the same names in other APIs. */
export const mcpParts: Readonly<Record<string, PartReader>> = {
  audio: skip,
  resource: readResource,
  resource_link: readResourceLink,
};
