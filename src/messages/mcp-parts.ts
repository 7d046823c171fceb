import { isRecord } from "../support/is-record.ts";
import { readFileIn } from "./files.ts";
import { dataDraft, type PartReader, skip } from "./part.ts";

/** A resource inside a message: its text, or a file. */
const readResource: PartReader = (part, at) => {
  const resource = isRecord(part.resource) ? part.resource : {};
  const keys = [...at.keys, "resource"];
  if (typeof resource.text === "string") dataDraft(at).add(resource.text, [...keys, "text"]);
  if (typeof resource.text !== "string" || resource.blob !== undefined) {
    readFileIn({ data: resource.blob, mediaType: resource.mimeType, keys: [...keys, "blob"] }, at);
  }
};

/** A resource that is elsewhere. The server that offers it wrote how it is called. */
const readResourceLink: PartReader = (part, at) => {
  at.into.skipped += 1;
  const into = dataDraft(at);
  for (const key of ["name", "title", "description"]) {
    if (typeof part[key] === "string") into.add(part[key], [...at.keys, key]);
  }
};

/** The parts of prompts and tool results of MCP. `text`, `image`, `tool_use` and `tool_result` are called as in other APIs. */
export const mcpParts: Readonly<Record<string, PartReader>> = {
  audio: skip,
  resource: readResource,
  resource_link: readResourceLink,
};
