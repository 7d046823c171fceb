import { AIMessage, type BaseMessage, type MessageContent } from "@langchain/core/messages";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import { isRecord } from "../../support/is-record.ts";
import { otherShape, parsed } from "../parts/back.ts";
import type { Judge } from "../parts/judge.ts";
import { cloneWith } from "./clone.ts";

/** A block of the content of a message, in the format of LangChain or of a provider. */
export type Block = Record<string, unknown> & { type: string };

/** The field with the text of a block of an answer, by the type of the block. */
const TEXT_OF_BLOCK: Readonly<Record<string, string>> = {
  text: "text",
  output_text: "text",
  refusal: "refusal",
  reasoning: "reasoning",
  thinking: "thinking",
};

/** What is said beside the content, in fields of providers. */
export const SAID_BESIDE = ["reasoning_content", "reasoning", "refusal"] as const;

/** The fields of providers that hold the answer once more, as the model wrote it. */
const WRITTEN = ["parsed", "__raw_response", "output", "logprobs"];

/** A part of the summary of what a model of OpenAI has thought, as `reasoning` in the fields of that provider has it. */
export type SummaryPart = Record<string, unknown> & { text: string };

/** The parts of a summary that have a text. */
export function summaryOf(reasoning: unknown): SummaryPart[] | undefined {
  if (!isRecord(reasoning) || !Array.isArray(reasoning.summary)) return;
  return reasoning.summary.filter((part) => isRecord(part) && typeof part.text === "string") as SummaryPart[];
}

/** The field with the text of a block of an answer; undefined for a block without text. */
export function textField(block: Block): string | undefined {
  const field = TEXT_OF_BLOCK[block.type];
  return field !== undefined && typeof block[field] === "string" ? field : undefined;
}

/** Judges an answer of a model. */
export async function judgeMessage<M extends BaseMessage>(message: M, judge: Judge): Promise<M> {
  const { content, additional_kwargs: kwargs, response_metadata: metadata } = message;
  const calls = new Calls(message);
  const changes: Partial<BaseMessage> = {};
  const newKwargs = withoutWritten(kwargs);
  for (const key of SAID_BESIDE) {
    const said = kwargs[key];
    const summary = summaryOf(said);
    if (typeof said === "string") newKwargs[key] = (await judge.answer({ text: said })).text;
    else if (summary) {
      const judged: SummaryPart[] = [];
      for (const part of summary) judged.push({ ...part, text: (await judge.answer({ text: part.text })).text });
      newKwargs[key] = { ...(said as object), summary: judged };
    }
  }
  if (typeof content === "string") {
    // What a model does belongs to what it says, so both are judged together.
    changes.content = await calls.judge(judge, content);
  } else {
    const blocks = content as Block[];
    const last = blocks.findLastIndex(({ type }) => type === "text" || type === "output_text");
    if (last < 0) await calls.judge(judge, "");
    const judged: Block[] = [];
    for (const [index, block] of blocks.entries()) {
      const field = textField(block);
      if (field === undefined) judged.push(block);
      else {
        const text = block[field] as string;
        const checked = index === last ? await calls.judge(judge, text) : (await judge.answer({ text })).text;
        judged.push({ ...block, [field]: checked });
      }
    }
    changes.content = judged.map((block) => calls.inBlock(block)) as BaseMessage["content"];
  }
  changes.additional_kwargs = calls.inKwargs(newKwargs);
  changes.response_metadata = withoutWritten(metadata);
  return cloneWith(message, { ...changes, ...calls.inMessage() } as Partial<M>);
}

/** The calls of tools in an answer. Providers write them in up to three places. */
class Calls {
  readonly #message: Partial<Pick<AIMessage, "tool_calls" | "invalid_tool_calls">>;
  /** All calls that differ, and their arguments as guard left them. */
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

  /** Judges the calls and the text beside them, and returns the text. */
  async judge(judge: Judge, text: string): Promise<string> {
    if (this.#given.length === 0) return text === "" ? "" : (await judge.answer({ text })).text;
    const checked = await judge.answer({ text, toolCalls: this.#given });
    if (checked.toolCalls.length !== this.#given.length) throw otherShape();
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
        args: parsed(args[index] ?? "") as typeof call.args,
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

  /** The same calls in a block of the content. */
  inBlock(block: Block): Block {
    const args = this.#argumentsOf(block.id);
    if (args === undefined) return block;
    if (block.type === "tool_call") return { ...block, args: parsed(args) };
    if (block.type !== "tool_use") return block;
    return { ...block, input: typeof block.input === "string" ? args : parsed(args) };
  }

  /** The same calls in the fields of providers. */
  inKwargs(kwargs: BaseMessage["additional_kwargs"]): BaseMessage["additional_kwargs"] {
    const result = { ...kwargs };
    if (kwargs.tool_calls) {
      // A call that is nowhere else was not judged.
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

/** What a provider says of an answer, without what holds the answer once more, as the model wrote it. */
export function withoutWritten<Fields extends Record<string, unknown>>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !WRITTEN.includes(key))) as Fields;
}

/** The text of a content. */
export function textOf(content: MessageContent): string {
  if (typeof content === "string") return content;
  return (content as Block[]).map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The answer to a blocked call. */
export function textMessage(text: string, answer?: BaseMessage): AIMessage {
  const usage_metadata = (answer as AIMessage | undefined)?.usage_metadata;
  return new AIMessage({
    content: text,
    response_metadata: { finish_reason: "content_filter" },
    ...(usage_metadata ? { usage_metadata } : {}),
  });
}
