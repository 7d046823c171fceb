import { AIMessage, type BaseMessage, type MessageContent } from "@langchain/core/messages";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import { isRecord } from "../../support/is-record.ts";
import type { ModelCall } from "../parts/model-call.ts";
import { parseOrText, shapeError } from "../parts/write-back.ts";
import { cloneWith } from "./clone.ts";

/** A block of a message's content, in the format of LangChain or of a provider. */
export type Block = Record<string, unknown> & { type: string };

/** The field with the text of a block, by the type of the block. */
const TEXT_OF_BLOCK: Readonly<Record<string, string>> = {
  text: "text",
  output_text: "text",
  refusal: "refusal",
  reasoning: "reasoning",
  thinking: "thinking",
};

/** Fields of providers with texts of the answer beside its content. */
export const EXTRA_TEXT_FIELDS = ["reasoning_content", "reasoning", "refusal"] as const;

/** Fields of providers with the raw answer, which is not checked. */
const RAW_ANSWER_FIELDS = ["parsed", "__raw_response", "output", "logprobs"];

/** A part of OpenAI's reasoning summary, in its field `reasoning`. */
export type SummaryPart = Record<string, unknown> & { text: string };

/** The parts with text of a reasoning summary. */
export function summaryOf(reasoning: unknown): SummaryPart[] | undefined {
  if (!isRecord(reasoning) || !Array.isArray(reasoning.summary)) return;
  return reasoning.summary.filter((part) => isRecord(part) && typeof part.text === "string") as SummaryPart[];
}

/** The name of the field with the text of a block; undefined for a block without text. */
export function textField(block: Block): string | undefined {
  const field = TEXT_OF_BLOCK[block.type];
  return field !== undefined && typeof block[field] === "string" ? field : undefined;
}

/** Checks an answer of a model: its texts, and its tool calls together with the last text. */
export async function checkMessage<M extends BaseMessage>(message: M, call: ModelCall): Promise<M> {
  const toolCalls = new ToolCalls(message);
  const content = await checkContent(message.content, toolCalls, call);
  const kwargs = await checkExtraFields(message.additional_kwargs, call);
  const changes: Partial<BaseMessage> = {
    content,
    additional_kwargs: toolCalls.inKwargs(kwargs),
    response_metadata: withoutRawAnswer(message.response_metadata),
  };
  return cloneWith(message, { ...changes, ...toolCalls.inMessage() } as Partial<M>);
}

/** Checks the texts in the fields of providers. */
async function checkExtraFields(
  kwargs: BaseMessage["additional_kwargs"],
  call: ModelCall,
): Promise<BaseMessage["additional_kwargs"]> {
  const checked = withoutRawAnswer(kwargs);
  for (const key of EXTRA_TEXT_FIELDS) {
    const value = kwargs[key];
    const summary = summaryOf(value);
    if (typeof value === "string") checked[key] = (await call.answer({ text: value })).text;
    else if (summary) {
      const parts: SummaryPart[] = [];
      for (const part of summary) parts.push({ ...part, text: (await call.answer({ text: part.text })).text });
      checked[key] = { ...(value as object), summary: parts };
    }
  }
  return checked;
}

async function checkContent(
  content: BaseMessage["content"],
  toolCalls: ToolCalls,
  call: ModelCall,
): Promise<BaseMessage["content"]> {
  if (typeof content === "string") return toolCalls.check(call, content);
  const blocks = content as Block[];
  const last = blocks.findLastIndex(({ type }) => type === "text" || type === "output_text");
  if (last < 0) await toolCalls.check(call, "");
  const checked: Block[] = [];
  for (const [index, block] of blocks.entries()) {
    const field = textField(block);
    if (field === undefined) {
      checked.push(block);
      continue;
    }
    const given = block[field] as string;
    const text = index === last ? await toolCalls.check(call, given) : (await call.answer({ text: given })).text;
    checked.push({ ...block, [field]: text });
  }
  return checked.map((block) => toolCalls.inBlock(block)) as BaseMessage["content"];
}

/** The tool calls of an answer, which may be in up to three places. */
class ToolCalls {
  readonly #message: Partial<Pick<AIMessage, "tool_calls" | "invalid_tool_calls">>;
  /** All different calls. */
  readonly #given: AnsweredToolCall[] = [];
  #checked: AnsweredToolCall[] = [];

  constructor(message: BaseMessage) {
    this.#message = AIMessage.isInstance(message) ? message : {};
    const { tool_calls: calls = [], invalid_tool_calls: invalid = [] } = this.#message;
    for (const { id, name, args } of calls) this.#add(id, name, JSON.stringify(args));
    for (const { id, name, args } of invalid) this.#add(id, name, args);
    const { function_call: legacy } = message.additional_kwargs;
    if (legacy) this.#add(undefined, legacy.name, legacy.arguments);
  }

  #add(id: string | undefined, name = "", args = ""): void {
    this.#given.push({ ...(id !== undefined && { id }), type: "function", function: { name, arguments: args } });
  }

  /** Checks the calls together with a text, and returns the sanitized text. */
  async check(call: ModelCall, text: string): Promise<string> {
    if (this.#given.length === 0) return text === "" ? "" : (await call.answer({ text })).text;
    const checked = await call.answer({ text, toolCalls: this.#given });
    if (checked.toolCalls.length !== this.#given.length) throw shapeError();
    this.#checked = checked.toolCalls;
    return checked.text;
  }

  inMessage(): Partial<AIMessage> {
    const { tool_calls: calls, invalid_tool_calls: invalid } = this.#message;
    const args = this.#checked.map((call) => call.function.arguments);
    const result: Partial<AIMessage> = {};
    if (calls) {
      result.tool_calls = calls.map((call, index) => ({
        ...call,
        args: parseOrText(args[index] ?? "") as typeof call.args,
      }));
    }
    if (invalid) {
      result.invalid_tool_calls = invalid.map((call, index) => {
        const after = args[(calls?.length ?? 0) + index];
        return after === undefined ? call : { ...call, args: after };
      });
    }
    return result;
  }

  /** A block of the content with the checked arguments, if it is a tool call. */
  inBlock(block: Block): Block {
    const args = this.#argumentsOf(block.id);
    if (args === undefined) return block;
    if (block.type === "tool_call") return { ...block, args: parseOrText(args) };
    if (block.type !== "tool_use") return block;
    return { ...block, input: typeof block.input === "string" ? args : parseOrText(args) };
  }

  /** The fields of providers with the checked arguments. */
  inKwargs(kwargs: BaseMessage["additional_kwargs"]): BaseMessage["additional_kwargs"] {
    const result = { ...kwargs };
    if (kwargs.tool_calls) {
      // A call that is only here was not checked, so it is removed.
      result.tool_calls = kwargs.tool_calls.flatMap((call) => {
        const args = this.#argumentsOf(call.id);
        return args === undefined ? [] : [{ ...call, function: { ...call.function, arguments: args } }];
      });
    }
    if (kwargs.function_call) {
      result.function_call = { ...kwargs.function_call, arguments: this.#checked.at(-1)?.function.arguments ?? "" };
    }
    return result;
  }

  #argumentsOf(id: unknown): string | undefined {
    if (id === undefined) return;
    return this.#checked.find((call) => call.id === id)?.function.arguments;
  }
}

/** Removes the fields with the raw answer. */
export function withoutRawAnswer<Fields extends Record<string, unknown>>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !RAW_ANSWER_FIELDS.includes(key))) as Fields;
}

/** The text of a content. */
export function textOf(content: MessageContent): string {
  if (typeof content === "string") return content;
  return (content as Block[]).map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The message that replaces a blocked answer. */
export function textMessage(text: string, answer?: BaseMessage): AIMessage {
  const usage_metadata = (answer as AIMessage | undefined)?.usage_metadata;
  return new AIMessage({
    content: text,
    response_metadata: { finish_reason: "content_filter" },
    ...(usage_metadata ? { usage_metadata } : {}),
  });
}
