import { AIMessageChunk, type BaseMessageChunk, type MessageContent } from "@langchain/core/messages";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import { IDLE, markIdle, openItems } from "../../support/items.ts";
import { otherShape } from "../parts/back.ts";
import { type Judge, type JudgedText, shortestWaiting } from "../parts/judge.ts";
import { type Block, SAID_BESIDE, type SummaryPart, summaryOf, textField, withoutWritten } from "./answer.ts";

/** Types of blocks with a call of a tool, or a piece of one. */
const CALL_BLOCK = /^(?:tool_use|input_json_delta|tool_call|tool_call_chunk)$/;

/** A text of the answer, and how a piece of it stands in a chunk. */
interface OpenText {
  judged: JudgedText;
  chunkOf(text: string): Piece;
}

/** What of a chunk is shown. */
interface Piece {
  content: MessageContent;
  kwargs?: Record<string, unknown>;
}

/**
 * Judges an answer that arrives in chunks. Texts go on as soon as they may; calls of tools wait until the answer has ended, so that
 * none is made because of an answer that is blocked in the end.
 */
export class GuardedChunks {
  readonly #judge: Judge;
  readonly #texts = new Map<string, OpenText>();
  /** The calls so far, and nothing else. */
  #calls: AIMessageChunk | undefined;
  #id: string | undefined;

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** @param source the chunks of the model. It is ended as soon as something is blocked. */
  async *chunks(source: AsyncIterable<BaseMessageChunk>): AsyncGenerator<AIMessageChunk, void, undefined> {
    const waiting = () => shortestWaiting([...this.#texts.values()].map(({ judged }) => judged));
    for await (const chunk of markIdle(openItems(source), waiting)) {
      if (chunk === IDLE) {
        for (const { judged, chunkOf } of this.#texts.values()) {
          if (judged.waiting === undefined) continue;
          const text = await judged.flush();
          if (text !== "") yield this.#made(chunkOf(text));
        }
        continue;
      }
      const shown = await this.#take(chunk);
      if (shown) yield shown;
    }
    for (const { judged, chunkOf } of this.#texts.values()) {
      const text = await judged.end();
      if (text !== "") yield this.#made(chunkOf(text));
    }
    const calls = await this.#judgedCalls();
    if (calls) yield calls;
  }

  /** Returns what may be shown of a chunk now. */
  async #take(message: BaseMessageChunk): Promise<AIMessageChunk | undefined> {
    this.#id = message.id ?? this.#id;
    const { content, wasEmpty } = await this.#takeContent(message.content);
    const kwargs = withoutWritten({ ...message.additional_kwargs });
    for (const key of SAID_BESIDE) await this.#takeBeside(key, kwargs);
    const { tool_calls, function_call, ...otherKwargs } = kwargs;
    this.#keepCalls(message, { ...(tool_calls ? { tool_calls } : {}), ...(function_call ? { function_call } : {}) });
    const usage = (message as Partial<AIMessageChunk>).usage_metadata;
    const isEmpty = content.length === 0 && Object.keys(otherKwargs).length === 0;
    if (isEmpty && !wasEmpty && !usage) return;
    return new AIMessageChunk({
      content,
      additional_kwargs: otherKwargs,
      response_metadata: withoutWritten(message.response_metadata),
      ...(message.id !== undefined && { id: message.id }),
      ...(message.name !== undefined && { name: message.name }),
      ...(usage ? { usage_metadata: usage } : {}),
    });
  }

  /** Puts what may be shown of a field in the place of what came in it. */
  async #takeBeside(key: (typeof SAID_BESIDE)[number], kwargs: Record<string, unknown>): Promise<void> {
    const said = kwargs[key];
    if (typeof said === "string") {
      const text = await this.#text(key, (text) => ({ content: "", kwargs: { [key]: text } })).push(said);
      if (text === "") delete kwargs[key];
      else kwargs[key] = text;
      return;
    }
    const summary = summaryOf(said);
    if (!summary) return;
    const shown: SummaryPart[] = [];
    for (const { text: piece, ...part } of summary) {
      const chunkOf = (text: string) => ({ content: "", kwargs: { [key]: { summary: [{ ...part, text }] } } });
      const text = await this.#text(`${key}.summary ${part.index}`, chunkOf).push(piece);
      if (text !== "") shown.push({ ...part, text });
    }
    kwargs[key] = { ...(said as object), summary: shown };
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
      // Other fields of a block, such as the signature of what a model has thought, go on also without text.
      const isBare = Object.keys(block).every((key) => key === field || key === "type" || key === "index");
      if (text !== "" || !isBare) shown.push({ ...block, [field]: text });
    }
    return { content: shown as unknown as MessageContent, wasEmpty: content.length === 0 };
  }

  #text(key: string, chunkOf: OpenText["chunkOf"]): JudgedText {
    const known = this.#texts.get(key);
    if (known) return known.judged;
    const judged = this.#judge.stream();
    this.#texts.set(key, { judged, chunkOf });
    return judged;
  }

  #keepCalls(message: BaseMessageChunk, kwargs: Record<string, unknown>): void {
    const { tool_call_chunks: pieces = [], tool_calls: calls = [] } = message as Partial<AIMessageChunk>;
    const blocks = typeof message.content === "string" ? [] : (message.content as Block[]);
    const content = blocks.filter(({ type }) => CALL_BLOCK.test(type));
    if (pieces.length === 0 && calls.length === 0 && content.length === 0 && Object.keys(kwargs).length === 0) return;
    // A model may give calls that are complete instead of pieces.
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

  /** Judges the calls, and puts them into one chunk. */
  async #judgedCalls(): Promise<AIMessageChunk | undefined> {
    const message = this.#calls;
    if (!message) return;
    const pieces = message.tool_call_chunks ?? [];
    const { function_call: legacy } = message.additional_kwargs;
    const given = [
      ...pieces.map(({ id, name, args }) => answered(id, name, args)),
      ...(legacy ? [answered(undefined, legacy.name, legacy.arguments)] : []),
    ];
    if (given.length === 0) return;
    const { toolCalls } = await this.#judge.answer({ text: "", toolCalls: given });
    if (toolCalls.length !== given.length) throw otherShape();
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
            // A call that is nowhere else was not judged.
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

  #made({ content, kwargs = {} }: Piece): AIMessageChunk {
    const id = this.#id === undefined ? {} : { id: this.#id };
    return new AIMessageChunk({ content, additional_kwargs: kwargs, ...id });
  }
}

function answered(id: string | undefined, name = "", args = ""): AnsweredToolCall {
  return { ...(id !== undefined && { id }), type: "function", function: { name, arguments: args } };
}
