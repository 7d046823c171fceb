import type { BaseMessage } from "@langchain/core/messages";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { isRequestField } from "../../messages/request-fields.ts";
import type { ChatRequest, Message } from "../../scan/chat-request.ts";
import { isRecord } from "../../support/is-record.ts";
import { mapItems, shapeError, withField } from "../parts/write-back.ts";
import { cloneWith } from "./clone.ts";
import { adaptMessage } from "./messages.ts";

/** The options of a call that guard checks. */
export interface ToolOptions {
  /** Tool definitions, in the format of the provider or as tools of LangChain. */
  tools?: unknown;
  /** OpenAI's format of a structured answer. */
  response_format?: unknown;
}

/** A call of a chat model in the format of guard, and the conversion back. */
export interface RequestAdapter<Options> {
  chat: ChatRequest;
  withTexts(chat: ChatRequest): { messages: BaseMessage[]; options: Options };
}

type Definition = Record<string, unknown>;

/** Converts the messages and the options of a call. */
export function adaptRequest<Options extends ToolOptions>(
  messages: readonly BaseMessage[],
  options: Options,
): RequestAdapter<Options> {
  const read = messages.map(adaptMessage);
  const tools = Array.isArray(options.tools) ? options.tools.map(adaptTool) : [];
  const format = isRecord(options.response_format) ? options.response_format : {};
  const schema = isRecord(format.json_schema) ? format.json_schema : undefined;
  const definitions = tools.map(({ definition }) => definition);
  const described = schema && describedSchema(schema);
  const fields = fieldsOf(options, described ? ["tools", "response_format"] : ["tools"]);
  if (described) definitions.push({ type: "function", function: described });
  return {
    chat: {
      messages: read.map(({ chat }) => chat),
      ...(definitions.length > 0 && { tools: definitions }),
      ...(Object.keys(fields).length > 0 && { fields }),
    },
    withTexts({ messages: checked, tools: checkedTools, fields: checkedFields }) {
      const checkedDefinitions = [...(checkedTools ?? [])];
      if (checked.length !== read.length || checkedDefinitions.length !== definitions.length) throw shapeError();
      const result = { ...options, ...checkedFields };
      if (tools.length > 0) {
        const given = options.tools as unknown[];
        result.tools = mapItems(given, (_, index) => tools[index]?.withTexts(checkedDefinitions[index] as Definition));
      }
      if (described) {
        const json_schema = (checkedDefinitions[tools.length] as Definition).function;
        if (json_schema !== described) result.response_format = withField(format, "json_schema", json_schema);
      }
      return { messages: read.map(({ withTexts }, index) => withTexts(checked[index] as Message)), options: result };
    },
  };
}

/**
 * Returns the options that are fields of a request to the provider. `metadata` and `tags` are LangChain's own, and options with functions are
 * for this process.
 */
function fieldsOf(options: ToolOptions, handled: readonly string[]): Record<string, unknown> {
  const skipped = new Set([...handled, "metadata"]);
  const entries = Object.entries(options).filter(
    ([name, value]) => isRequestField(name) && !skipped.has(name) && value !== undefined && typeof value !== "function",
  );
  return Object.fromEntries(entries);
}

/** The definition of a structured answer. Its schema may be a Zod schema. */
function describedSchema(described: Definition): Definition {
  const { schema } = described;
  return schema === undefined ? described : { ...described, schema: toJsonSchema(schema as LangChainTool["schema"]) };
}

interface ToolAdapter {
  definition: Definition;
  withTexts(definition: Definition): unknown;
}

/** A tool of LangChain. Its schema may be a Zod schema. */
interface LangChainTool {
  name: string;
  description?: string;
  schema: Parameters<typeof toJsonSchema>[0];
}

function adaptTool(tool: unknown): ToolAdapter {
  if (!isLangChainTool(tool)) return { definition: tool as Definition, withTexts: (definition) => definition };
  const { name, description, schema } = tool;
  const parameters = toJsonSchema(schema);
  return {
    definition: {
      type: "function",
      function: { name, ...(description !== undefined && { description }), parameters },
    },
    withTexts(definition) {
      const checked = definition.function as { description?: string; parameters: typeof parameters };
      if (checked.description === description && checked.parameters === parameters) return tool;
      return cloneWith(tool, {
        ...(checked.description !== undefined && { description: checked.description }),
        ...(checked.parameters !== parameters && { schema: checked.parameters }),
      });
    },
  };
}

function isLangChainTool(tool: unknown): tool is LangChainTool {
  return typeof tool === "object" && tool !== null && "schema" in tool && "name" in tool;
}
