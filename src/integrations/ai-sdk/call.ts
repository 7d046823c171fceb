import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { toSnakeCase } from "../../support/options.ts";
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

/** An option of a provider, and the field of a request as which it is checked. */
interface ProviderField {
  provider: string;
  option: string;
  field: string;
  value: unknown;
}

/** Returns the options of providers. Their names are those of the provider's API in camel case: `previousResponseId`. */
function providerFields({ providerOptions = {} }: LanguageModelV3CallOptions): ProviderField[] {
  const used = new Set([STOP_SEQUENCES]);
  return Object.entries(providerOptions).flatMap(([provider, options]) =>
    Object.entries(options).map(([option, value]) => {
      let field = toSnakeCase(option);
      // Several providers may have an option of this name.
      while (used.has(field)) field = `${provider}.${field}`;
      used.add(field);
      return { provider, option, field, value };
    }),
  );
}

/** The field of the option `stopSequences`. */
const STOP_SEQUENCES = "stop_sequences";

/** Returns the options of a call beside its prompt and tools as fields of a request. */
function fieldsOf(params: LanguageModelV3CallOptions): Record<string, unknown> {
  const { stopSequences } = params;
  const options = providerFields(params).map(({ field, value }) => [field, value]);
  return { ...Object.fromEntries(options), ...(stopSequences && { [STOP_SEQUENCES]: stopSequences }) };
}

/** Writes the checked options back. */
function checkedOptions(
  params: LanguageModelV3CallOptions,
  checked: NonNullable<ChatRequest["fields"]>,
): Pick<LanguageModelV3CallOptions, "providerOptions" | "stopSequences"> {
  let { providerOptions } = params;
  const stops = checked[STOP_SEQUENCES] as string[] | undefined;
  for (const { provider, option, field, value } of providerFields(params)) {
    const changed = checked[field] as never;
    if (changed === undefined || changed === value) continue;
    providerOptions = { ...providerOptions, [provider]: { ...providerOptions?.[provider], [option]: changed } };
  }
  return { ...(providerOptions && { providerOptions }), ...(stops && { stopSequences: stops }) };
}

/**
 * Converts the options of a call: the prompt, the tool definitions, the options of the provider, and the schema of a structured answer, which is
 * checked like a tool definition.
 */
export function adaptCall(params: LanguageModelV3CallOptions): CallAdapter {
  const messages = params.prompt.map(adaptMessage);
  const tools = params.tools ?? [];
  const format = params.responseFormat?.type === "json" ? params.responseFormat : undefined;
  const hasSchema = format?.schema !== undefined || format?.description !== undefined;
  const definitions = [...tools.map(definitionOf), ...(format && hasSchema ? [definitionOfFormat(format)] : [])];
  const fields = fieldsOf(params);
  return {
    chat: {
      messages: messages.flatMap(({ chat }) => chat),
      ...(definitions.length > 0 && { tools: definitions }),
      ...(Object.keys(fields).length > 0 && { fields }),
    },
    withTexts(checked) {
      const rest = [...checked.messages] as Chat;
      const prompt = messages.map(({ chat, withTexts }) => withTexts(rest.splice(0, chat.length)));
      const checkedTools = [...(checked.tools ?? [])];
      if (rest.length > 0 || checkedTools.length !== definitions.length) throw shapeError();
      const options = checked.fields ? checkedOptions(params, checked.fields) : {};
      const result: LanguageModelV3CallOptions = { ...params, ...options, prompt };
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
