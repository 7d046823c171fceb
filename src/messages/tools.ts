import type { ToolDefinition } from "../scan/conversation-text.ts";
import { isRecord } from "../support/is-record.ts";
import { isProse } from "./names.ts";
import { fault } from "./part.ts";
import type { Keys, Reading } from "./reading.ts";

/** Keys whose values are words of JSON Schema or of an API, as long as they do not look like prose. */
const KEYWORDS = new Set(
  "type format $schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary contentEncoding contentMediaType syntax connector_id".split(
    " ",
  ),
);

/** Keys whose values are not handed to the model: credentials, and what only programs use. */
const NOT_FOR_MODELS = new Set(["authorization", "headers", "_meta", "icons", "cache_control"]);

/** Reads definitions of tools, in the formats of OpenAI, Anthropic and MCP. */
export function readTools(tools: unknown, keys: Keys, reading: Reading, message?: number): void {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) throw fault(keys, "expected an array of definitions of tools");
  for (const [index, tool] of tools.entries()) {
    if (!isRecord(tool)) throw fault([...keys, index], "expected the definition of a tool");
    readTool(tool, [...keys, index], reading, message);
  }
}

function readTool(definition: Record<string, unknown>, keys: Keys, reading: Reading, message?: number): void {
  const inner = ["function", "custom"].find((key) => isRecord(definition[key]));
  const body = inner ? (definition[inner] as Record<string, unknown>) : definition;
  const at = inner ? [...keys, inner] : keys;
  const name = [body.name, definition.name, definition.server_label, definition.type].find(
    (name) => typeof name === "string",
  );
  const toolDefinition: ToolDefinition = { name: (name as string | undefined) ?? "", definition };
  if (typeof body.description === "string") toolDefinition.description = body.description;
  const schema = body.parameters ?? body.input_schema ?? body.inputSchema;
  if (schema !== undefined && schema !== null) toolDefinition.schema = schema;
  if (typeof body.name === "string") reading.tools.add(body.name);

  const draft = reading.open(keys, { source: "tool_definition", message, toolDefinition });
  draft.keep = true;
  const isNamespace = definition.type === "namespace" && Array.isArray(definition.tools);
  // The name and the description come first, as in what the model reads.
  const first = ["name", "title", "description"].filter((key) => body[key] !== undefined);
  const others = Object.keys(body).filter((key) => !first.includes(key) && !(isNamespace && key === "tools"));
  for (const key of [...first, ...others]) {
    if (NOT_FOR_MODELS.has(key)) continue;
    if (!first.includes(key)) draft.addKey(key, [...at, key]);
    draft.addAll(body[key], [...at, key], isRead);
  }
  if (inner) {
    for (const [key, value] of Object.entries(definition)) {
      if (key !== inner && !NOT_FOR_MODELS.has(key)) draft.addAll(value, [...keys, key], isRead);
    }
  }
  if (isNamespace) readTools(definition.tools, [...keys, "tools"], reading, message);
}

/** Whether a string of a definition is read: all are, except keywords of JSON Schema and names that the schema repeats. */
function isRead(value: string, keys: Keys): boolean {
  const key = keys.at(-1);
  if (typeof key === "number" && keys.at(-2) === "required") return isProse(value);
  if (typeof key === "number" && keys.at(-2) === "type") return isProse(value);
  return !(typeof key === "string" && KEYWORDS.has(key) && value.length <= 100 && !/\s/.test(value));
}
