import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { mapItems, shapeError, withField } from "../parts/write-back.ts";
import { adaptMessage, type Chat } from "./prompt.ts";

type Tool = NonNullable<LanguageModelV3CallOptions["tools"]>[number];
type Definition = Record<string, unknown>;
type ResponseFormat = Extract<LanguageModelV3CallOptions["responseFormat"], { type: "json" }>;

/** A model call in the format of guard, and the conversion back. */
export interface CallAdapter {
  chat: ChatRequest;
  /** The options of the call, with the texts of a checked request. */
  withTexts(chat: ChatRequest): LanguageModelV3CallOptions;
}

/**
 * Converts the options of a call: the prompt, the tool definitions, and the schema of a structured answer, which is checked like a tool
 * definition.
 */
export function adaptCall(params: LanguageModelV3CallOptions): CallAdapter {
  const messages = params.prompt.map(adaptMessage);
  const tools = params.tools ?? [];
  const format = params.responseFormat?.type === "json" ? params.responseFormat : undefined;
  const hasSchema = format?.schema !== undefined || format?.description !== undefined;
  const definitions = [...tools.map(definitionOf), ...(format && hasSchema ? [definitionOfFormat(format)] : [])];
  return {
    chat: {
      messages: messages.flatMap(({ chat }) => chat),
      ...(definitions.length > 0 && { tools: definitions }),
    },
    withTexts(checked) {
      const rest = [...checked.messages] as Chat;
      const prompt = messages.map(({ chat, withTexts }) => withTexts(rest.splice(0, chat.length)));
      const checkedTools = [...(checked.tools ?? [])];
      if (rest.length > 0 || checkedTools.length !== definitions.length) throw shapeError();
      const result: LanguageModelV3CallOptions = { ...params, prompt };
      if (params.tools) {
        result.tools = mapItems(tools, (tool, index) =>
          withDefinition(tool, checkedTools[index] as Definition),
        ) as Tool[];
      }
      const ofFormat = checkedTools[tools.length];
      if (format && ofFormat) result.responseFormat = withFormatDefinition(format, ofFormat);
      return result;
    },
  };
}

function definitionOf(tool: Tool): Definition {
  if (tool.type === "provider") return { type: tool.id, name: tool.name, args: tool.args };
  const { name, description, inputSchema, inputExamples } = tool;
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: inputSchema,
      ...(inputExamples && { examples: inputExamples }),
    },
  };
}

function withDefinition(tool: Tool, definition: Definition): Tool {
  if (tool.type === "provider") return withField(tool, "args", definition.args);
  const { description, parameters, examples } = definition.function as Definition;
  let result: LanguageModelV3FunctionTool = tool;
  result = withField(result, "description", description);
  result = withField(result, "inputSchema", parameters);
  return withField(result, "inputExamples", examples);
}

function definitionOfFormat({ name = "response", description, schema }: ResponseFormat): Definition {
  return {
    type: "function",
    function: { name, ...(description !== undefined && { description }), ...(schema && { parameters: schema }) },
  };
}

function withFormatDefinition(format: ResponseFormat, definition: Definition): ResponseFormat {
  const { description, parameters } = definition.function as Definition;
  return withField(withField(format, "description", description), "schema", parameters);
}
