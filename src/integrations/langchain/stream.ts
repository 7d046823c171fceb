import { AIMessageChunk, type BaseMessageChunk, type MessageContent } from "@langchain/core/messages";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import { IDLE, markIdle, openItems } from "../../support/items.ts";
import { type ModelCall, type StreamedText, shortestWait } from "../parts/model-call.ts";
import { shapeError } from "../parts/write-back.ts";
import { type Block, EXTRA_TEXT_FIELDS, type SummaryPart, summaryOf, textField, withoutRawAnswer } from "./answer.ts";

/** Types of blocks with a tool call or a piece of one. */
const CALL_BLOCK = /^(?:tool_use|input_json_delta|tool_call|tool_call_chunk)$/;

/** A text of the answer, and a function that puts a piece of it into a chunk. */
interface OpenText {
  text: StreamedText;
  chunkOf(text: string): Piece;
}

/** The released part of a chunk. */
interface Piece {
  content: MessageContent;
  kwargs?: Record<string, unknown>;
}

/**
 * Checks a streamed answer. Texts are released as soon as their checks pass. Tool calls are held back until the end of the answer, so
 * that none runs for an answer that is blocked later.
 */
export class GuardedChunks {
  readonly #modelCall: ModelCall;
  readonly #texts = new Map<string, OpenText>();
  /** The tool calls received so far. */
  #calls: AIMessageChunk | undefined;
  #id: string | undefined;

  constructor(call: ModelCall) {
    this.#modelCall = call;
  }

  /** @param source the chunks of the model. It is closed as soon as something is blocked. */
  async *chunks(source: AsyncIterable<BaseMessageChunk>): AsyncGenerator<AIMessageChunk, void, undefined> {
    const waiting = () => shortestWait([...this.#texts.values()].map(({ text }) => text));
    for await (const chunk of markIdle(openItems(source), waiting)) {
      if (chunk === IDLE) {
        for (const { text, chunkOf } of this.#texts.values()) {
          if (text.waiting === undefined) continue;
          const released = await text.flush();
          if (released !== "") yield this.#chunkFrom(chunkOf(released));
        }
        continue;
      }
      const shown = await this.#take(chunk);
      if (shown) yield shown;
    }
    for (const { text, chunkOf } of this.#texts.values()) {
      const released = await text.end();
      if (released !== "") yield this.#chunkFrom(chunkOf(released));
    }
    const calls = await this.#checkCalls();
    if (calls) yield calls;
  }

  /** Returns the part of a chunk that can be released now. */
  async #take(message: BaseMessageChunk): Promise<AIMessageChunk | undefined> {
    this.#id = message.id ?? this.#id;
    const { content, wasEmpty } = await this.#takeContent(message.content);
    const kwargs = withoutRawAnswer({ ...message.additional_kwargs });
    for (const key of EXTRA_TEXT_FIELDS) await this.#takeExtraField(key, kwargs);
    const { tool_calls, function_call, ...otherKwargs } = kwargs;
    this.#keepCalls(message, { ...(tool_calls ? { tool_calls } : {}), ...(function_call ? { function_call } : {}) });
    const usage = (message as Partial<AIMessageChunk>).usage_metadata;
    const isEmpty = content.length === 0 && Object.keys(otherKwargs).length === 0;
    if (isEmpty && !wasEmpty && !usage) return;
    return new AIMessageChunk({
      content,
      additional_kwargs: otherKwargs,
      response_metadata: withoutRawAnswer(message.response_metadata),
      ...(message.id !== undefined && { id: message.id }),
      ...(message.name !== undefined && { name: message.name }),
      ...(usage ? { usage_metadata: usage } : {}),
    });
  }

  /** Replaces the text of a field with the part that can be released now. */
  async #takeExtraField(key: (typeof EXTRA_TEXT_FIELDS)[number], kwargs: Record<string, unknown>): Promise<void> {
    const value = kwargs[key];
    if (typeof value === "string") {
      const text = await this.#text(key, (text) => ({ content: "", kwargs: { [key]: text } })).push(value);
      if (text === "") delete kwargs[key];
      else kwargs[key] = text;
      return;
    }
    const summary = summaryOf(value);
    if (!summary) return;
    const shown: SummaryPart[] = [];
    for (const { text: piece, ...part } of summary) {
      const chunkOf = (text: string) => ({ content: "", kwargs: { [key]: { summary: [{ ...part, text }] } } });
      const text = await this.#text(`${key}.summary ${part.index}`, chunkOf).push(piece);
      if (text !== "") shown.push({ ...part, text });
    }
    kwargs[key] = { ...(value as object), summary: shown };
  }

  async #takeContent(content: MessageContent): Promise<{ content: MessageContent; wasEmpty: boolean }> {
    if (typeof content === "string") {
      if (content === "") return { content, wasEmpty: true };
      const text = await this.#text("content", (text) => ({ content: text })).push(content);
      return { content: text, wasEmpty: false };
    }
    const shown: Block[] = [];
    for (const block of content as Block[]) {
      if (CALL_BLOCK.test(block.type)) continue;
      const field = textField(block);
      if (field === undefined) {
        shown.push(block);
        continue;
      }
      const { type, index } = block;
      const chunkOf = (text: string): Piece => {
        const rest = { type, ...(index !== undefined && { index }), [field]: text };
        return { content: [rest] as unknown as MessageContent };
      };
      const text = await this.#text(`content ${type} ${index}`, chunkOf).push(block[field] as string);
      // Other fields of a block, such as the signature of reasoning, are released without text too.
      const isBare = Object.keys(block).every((key) => key === field || key === "type" || key === "index");
      if (text !== "" || !isBare) shown.push({ ...block, [field]: text });
    }
    return { content: shown as unknown as MessageContent, wasEmpty: content.length === 0 };
  }

  #text(key: string, chunkOf: OpenText["chunkOf"]): StreamedText {
    const known = this.#texts.get(key);
    if (known) return known.text;
    const text = this.#modelCall.stream();
    this.#texts.set(key, { text, chunkOf });
    return text;
  }

  #keepCalls(message: BaseMessageChunk, kwargs: Record<string, unknown>): void {
    const { tool_call_chunks: pieces = [], tool_calls: calls = [] } = message as Partial<AIMessageChunk>;
    const blocks = typeof message.content === "string" ? [] : (message.content as Block[]);
    const content = blocks.filter(({ type }) => CALL_BLOCK.test(type));
    if (pieces.length === 0 && calls.length === 0 && content.length === 0 && Object.keys(kwargs).length === 0) return;
    // A model may send complete calls instead of pieces.
    const offset = this.#calls?.tool_call_chunks?.length ?? 0;
    const whole = calls.map(({ name, args, id }, index) => ({
      name,
      args: JSON.stringify(args),
      ...(id !== undefined && { id }),
      index: offset + index,
      type: "tool_call_chunk" as const,
    }));
    const next = new AIMessageChunk({
      content: (typeof message.content === "string" ? "" : content) as MessageContent,
      tool_call_chunks: pieces.length > 0 ? pieces : whole,
      additional_kwargs: kwargs,
    });
    this.#calls = this.#calls ? this.#calls.concat(next) : next;
  }

  /** Checks the tool calls, and returns them in one chunk. */
  async #checkCalls(): Promise<AIMessageChunk | undefined> {
    const message = this.#calls;
    if (!message) return;
    const pieces = message.tool_call_chunks ?? [];
    const { function_call: legacy } = message.additional_kwargs;
    const given = [
      ...pieces.map(({ id, name, args }) => toToolCall(id, name, args)),
      ...(legacy ? [toToolCall(undefined, legacy.name, legacy.arguments)] : []),
    ];
    if (given.length === 0) return;
    const { toolCalls } = await this.#modelCall.answer({ text: "", toolCalls: given });
    if (toolCalls.length !== given.length) throw shapeError();
    const args = toolCalls.map((call) => call.function.arguments);
    const byId = new Map(
      toolCalls.flatMap((call) => (call.id === undefined ? [] : [[call.id, call.function.arguments]])),
    );
    const blocks = typeof message.content === "string" ? "" : (message.content as Block[]);
    const content =
      blocks === ""
        ? ""
        : blocks.flatMap((block) => {
            const args = byId.get(block.id as string);
            // A call that is only here was not checked, so it is removed.
            return args === undefined ? [] : [{ ...block, ["args" in block ? "args" : "input"]: args }];
          });
    const raw = message.additional_kwargs.tool_calls?.flatMap((call) => {
      const args = byId.get(call.id);
      return args === undefined ? [] : [{ ...call, function: { ...call.function, arguments: args } }];
    });
    return new AIMessageChunk({
      content: content as unknown as MessageContent,
      tool_call_chunks: pieces.map((piece, index) => ({ ...piece, args: args[index] ?? "" })),
      additional_kwargs: {
        ...(raw && { tool_calls: raw }),
        ...(legacy && { function_call: { ...legacy, arguments: args.at(-1) ?? "" } }),
      },
      ...(this.#id !== undefined && { id: this.#id }),
    });
  }

  #chunkFrom({ content, kwargs = {} }: Piece): AIMessageChunk {
    const id = this.#id === undefined ? {} : { id: this.#id };
    return new AIMessageChunk({ content, additional_kwargs: kwargs, ...id });
  }
}

function toToolCall(id: string | undefined, name = "", args = ""): AnsweredToolCall {
  return { ...(id !== undefined && { id }), type: "function", function: { name, arguments: args } };
}
