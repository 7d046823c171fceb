import type { ToolDefinition } from "../scan/conversation-text.ts";
import { isRecord } from "../support/is-record.ts";
import { toSnakeCase } from "../support/options.ts";
import { shortenKey } from "./json-strings.ts";
import { invalidAt } from "./part-reader.ts";
import type { KeyPath, RequestReader } from "./request-reader.ts";
import { isPhrase, isProse } from "./text-checks.ts";

/** Keys whose values are keywords of JSON Schema or of an API, unless they look like prose. */
const KEYWORDS = new Set(
  "type format $schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary contentEncoding contentMediaType syntax connector_id".split(
    " ",
  ),
);

/** Keys whose values are patterns and grammars. */
const PATTERN_KEYS = new Set("pattern regex grammar ebnf guided_regex guided_grammar".split(" "));

/** At least four words, or as much in a script without spaces. Other parts of a pattern are symbols and short literals. */
const PHRASE = /(?:\p{L}{2,}[ ,_-]+){3}\p{L}{2,}|\p{Lo}{6,}/u;

/** Keys whose values do not reach the model: credentials and metadata for programs. */
export const NOT_FOR_MODELS = new Set([
  "authorization",
  "authorization_token",
  "headers",
  "_meta",
  "icons",
  "cache_control",
]);

/**
 * Tools that the provider runs: the model reads their results, and guard does not. Sources: the tools of OpenAI's Responses API, of
 * Anthropic's messages, of xAI and of Google. The AI SDK puts the name of the provider before them.
 */
const PROVIDER_TOOLS =
  /^(?:\w+\.)?(?:mcp|file_search|web_search|web_fetch|code_interpreter|code_execution|x_search|collections_search|google_search|url_context|google_maps|enterprise_web_search|retrieval)(?:_|$)/;

/** The keys with function definitions in a tool of Gemini. */
const DECLARATIONS = ["functionDeclarations", "function_declarations"];

/** Reads tool definitions in the formats of OpenAI, Anthropic, Gemini and MCP. */
export function readTools(tools: unknown, keys: KeyPath, reader: RequestReader, message?: number): void {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) throw invalidAt(keys, "expected an array of tool definitions");
  for (const [index, tool] of tools.entries()) {
    if (!isRecord(tool)) throw invalidAt([...keys, index], "expected a tool definition");
    const lists = DECLARATIONS.filter((key) => Array.isArray(tool[key]));
    for (const key of lists) readTools(tool[key], [...keys, index, key], reader, message);
    const rest = Object.entries(tool).filter(([key]) => !lists.includes(key));
    if (lists.length === 0) readTool(tool, [...keys, index], reader, message);
    else if (rest.length > 0) readTool(Object.fromEntries(rest), [...keys, index], reader, message);
  }
}

/** Reads the schema or grammar of an answer, as the parameters of a tool are read. */
export function readSchema(schema: unknown, keys: KeyPath, reader: RequestReader): void {
  reader.open(keys, { source: "tool_definition" }).addAll(schema, keys, isPromptText);
}

function readTool(definition: Record<string, unknown>, keys: KeyPath, reader: RequestReader, message?: number): void {
  const inner = ["function", "custom"].find((key) => isRecord(definition[key]));
  const body = inner ? (definition[inner] as Record<string, unknown>) : definition;
  const bodyKeys = inner ? [...keys, inner] : keys;
  for (const type of typesOf(definition)) if (PROVIDER_TOOLS.test(type)) reader.stateElsewhere.add(shortenKey(type));
  const name = [body.name, definition.name, definition.server_label, definition.type].find(
    (name) => typeof name === "string",
  );
  const toolDefinition: ToolDefinition = { name: (name as string | undefined) ?? "", definition };
  if (typeof body.description === "string") toolDefinition.description = body.description;
  const schema = body.parameters ?? body.input_schema ?? body.inputSchema ?? body.parametersJsonSchema;
  if (schema !== undefined && schema !== null) toolDefinition.schema = schema;
  if (typeof body.name === "string") reader.tools.add(body.name);

  const draft = reader.open(keys, { source: "tool_definition", message, toolDefinition });
  draft.isKept = true;
  const isNamespace = definition.type === "namespace" && Array.isArray(definition.tools);
  // The name and the description come first, as in the model's prompt.
  const first = ["name", "title", "description"].filter((key) => body[key] !== undefined);
  const others = Object.keys(body).filter((key) => !first.includes(key) && !(isNamespace && key === "tools"));
  for (const key of [...first, ...others]) {
    if (NOT_FOR_MODELS.has(key)) continue;
    if (!first.includes(key)) draft.addKey(key, [...bodyKeys, key]);
    draft.addAll(body[key], [...bodyKeys, key], isPromptText);
  }
  if (inner) {
    for (const [key, value] of Object.entries(definition)) {
      if (key !== inner && !NOT_FOR_MODELS.has(key)) draft.addAll(value, [...keys, key], isPromptText);
    }
  }
  if (isNamespace) readTools(definition.tools, [...keys, "tools"], reader, message);
}

/** Returns the type of a tool. A tool of Gemini has no type, but a key for each: `{ googleSearch: {} }`. */
function typesOf({ type, name, ...others }: Record<string, unknown>): string[] {
  if (typeof type === "string") return [type];
  return name === undefined ? Object.keys(others).map(toSnakeCase) : [];
}

/** Whether a string of a definition is read. Keywords of JSON Schema and repeated names of properties are not. */
function isPromptText(value: string, keys: KeyPath): boolean {
  const key = keys.at(-1);
  if (typeof key === "number" && keys.at(-2) === "required") return isProse(value);
  if (typeof key === "number" && keys.at(-2) === "type") return isProse(value);
  if (typeof key === "string" && PATTERN_KEYS.has(key)) return PHRASE.test(value);
  if (typeof key !== "string" || !KEYWORDS.has(key) || value.length > 100 || /\s/.test(value)) return true;
  // References and URLs have many words.
  return !/[#:/]/.test(value) && isPhrase(value);
}
