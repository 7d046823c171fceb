import type { BaseMessage } from "@langchain/core/messages";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import type { ChatRequest, Message } from "../../scan/chat-request.ts";
import { isRecord } from "../../support/is-record.ts";
import { mapped, otherShape, withField } from "../parts/back.ts";
import { cloneWith } from "./clone.ts";
import { readMessage } from "./messages.ts";

/** The options of a call that guard reads. */
export interface ReadOptions {
  /** Definitions of tools, in the format of the provider or as tools of LangChain. */
  tools?: unknown;
  /** OpenAI's format of a structured answer. */
  response_format?: unknown;
}

/** A call of a chat model as guard reads it, and the way back. */
export interface ReadRequest<Options> {
  chat: ChatRequest;
  back(chat: ChatRequest): { messages: BaseMessage[]; options: Options };
}

type Definition = Record<string, unknown>;

/** Reads the messages and the options of a call. */
export function readRequest<Options extends ReadOptions>(
  messages: readonly BaseMessage[],
  options: Options,
): ReadRequest<Options> {
  const read = messages.map(readMessage);
  const tools = Array.isArray(options.tools) ? options.tools.map(readTool) : [];
  const format = isRecord(options.response_format) ? options.response_format : {};
  const schema = isRecord(format.json_schema) ? format.json_schema : undefined;
  const definitions = tools.map(({ definition }) => definition);
  const described = schema && ofSchema(schema);
  if (described) definitions.push({ type: "function", function: described });
  return {
    chat: {
      messages: read.map(({ chat }) => chat),
      ...(definitions.length > 0 && { tools: definitions }),
    },
    back({ messages: checked, tools: checkedTools }) {
      const definitionsBack = [...(checkedTools ?? [])];
      if (checked.length !== read.length || definitionsBack.length !== definitions.length) throw otherShape();
      const result = { ...options };
      if (tools.length > 0) {
        const given = options.tools as unknown[];
        result.tools = mapped(given, (_, index) => tools[index]?.back(definitionsBack[index] as Definition));
      }
      if (described) {
        const json_schema = (definitionsBack[tools.length] as Definition).function;
        if (json_schema !== described) result.response_format = withField(format, "json_schema", json_schema);
      }
      return { messages: read.map(({ back }, index) => back(checked[index] as Message)), options: result };
    },
  };
}

/** The description of a structured answer, whose schema may be one of Zod. */
function ofSchema(described: Definition): Definition {
  const { schema } = described;
  return schema === undefined ? described : { ...described, schema: toJsonSchema(schema as LangChainTool["schema"]) };
}

interface ReadTool {
  definition: Definition;
  back(definition: Definition): unknown;
}

/** A tool of LangChain, whose schema may be one of Zod. */
interface LangChainTool {
  name: string;
  description?: string;
  schema: Parameters<typeof toJsonSchema>[0];
}

function readTool(tool: unknown): ReadTool {
  if (!isLangChainTool(tool)) return { definition: tool as Definition, back: (definition) => definition };
  const { name, description, schema } = tool;
  const parameters = toJsonSchema(schema);
  return {
    definition: {
      type: "function",
      function: { name, ...(description !== undefined && { description }), parameters },
    },
    back(definition) {
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
