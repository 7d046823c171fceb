import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput, StructuredOutputMethodOptions } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { GuardBlockedError } from "../../guard/blocked-error.ts";
import type { Guard } from "../../guard/guard.ts";
import { Judge } from "../parts/judge.ts";
import type { GuardedModelOptions } from "../parts/options.ts";
import { judgeMessage, textMessage, textOf } from "./answer.ts";
import { type ReadOptions, readRequest } from "./request.ts";
import { withModels } from "./runnables.ts";
import { GuardedChunks } from "./stream.ts";

/** A chat model whose calls are guarded. */
export class GuardedChatModel<
  CallOptions extends BaseChatModelCallOptions = BaseChatModelCallOptions,
> extends BaseChatModel<CallOptions, AIMessageChunk> {
  static override lc_name(): string {
    return "GuardedChatModel";
  }

  override lc_serializable = false;
  readonly #inner: BaseChatModel<CallOptions>;
  readonly #guard: Guard;
  readonly #options: GuardedModelOptions;

  constructor(inner: BaseChatModel<CallOptions>, guard: Guard, options: GuardedModelOptions = {}) {
    // Callbacks of the model itself are told of what it is sent and what it writes.
    const { tags, metadata, verbose } = inner;
    super({ verbose, ...(tags && { tags }), ...(metadata && { metadata }) });
    this.#inner = inner;
    this.#guard = guard;
    this.#options = options;
    const streams = inner._streamResponseChunks !== BaseChatModel.prototype._streamResponseChunks;
    this.disableStreaming = inner.disableStreaming || !streams;
  }

  // The constructor of the base class asks for it.
  override _llmType(): string {
    return "guarded";
  }

  override get callKeys(): string[] {
    // The constructor of the base class may ask before the model is known.
    return #inner in this ? this.#inner.callKeys : super.callKeys;
  }

  override get profile(): BaseChatModel["profile"] {
    return this.#inner.profile;
  }

  override getLsParams(options: this["ParsedCallOptions"]): ReturnType<BaseChatModel["getLsParams"]> {
    return this.#inner.getLsParams(options);
  }

  override invocationParams(options?: this["ParsedCallOptions"]): unknown {
    return this.#inner.invocationParams(options);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const judge = new Judge(this.#guard, this.#options, options.signal);
    let answer: BaseMessage | undefined;
    try {
      const { checked, given } = await this.#request(judge, messages, options);
      answer = await this.#inner.invoke(checked, given);
      const message = await judgeMessage(answer, judge);
      return { generations: [{ text: message.text, message }] };
    } catch (error) {
      if (!(error instanceof GuardBlockedError) || !this.#options.onBlocked) throw error;
      const text = this.#options.onBlocked(error);
      return { generations: [{ text, message: textMessage(text, answer) }] };
    }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const message of this.#chunks(messages, options)) {
      const chunk = new ChatGenerationChunk({ text: textOf(message.content), message });
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  async *#chunks(messages: BaseMessage[], options: this["ParsedCallOptions"]): AsyncGenerator<AIMessageChunk> {
    const left = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    const judge = new Judge(this.#guard, this.#options, signal);
    try {
      const { checked, given } = await this.#request(judge, messages, { ...options, signal });
      yield* new GuardedChunks(judge).chunks(await this.#inner.stream(checked, given));
    } catch (error) {
      if (!(error instanceof GuardBlockedError) || !this.#options.onBlocked) throw error;
      const { content, response_metadata } = textMessage(this.#options.onBlocked(error));
      yield new AIMessageChunk({ content, response_metadata });
    } finally {
      // Whoever reads no more needs no more of the model either.
      left.abort();
    }
  }

  /** Judges a request, and returns it as the model may be sent it. */
  async #request(judge: Judge, messages: BaseMessage[], options: this["ParsedCallOptions"]) {
    // Models of OpenAI keep options that were bound to them, such as tools, where nothing else can be told of them.
    const { defaultOptions } = this.#inner as { defaultOptions?: Partial<CallOptions> };
    const { chat, back } = readRequest(messages, { ...defaultOptions, ...options } as ReadOptions);
    const checked = back(await judge.request(chat));
    // The callbacks of this call would be told of texts that nobody has judged.
    return {
      checked: checked.messages,
      given: { ...checked.options, callbacks: [] } as unknown as Partial<CallOptions>,
    };
  }

  override bindTools(
    tools: BindToolsInput[],
    options?: Partial<CallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, CallOptions> {
    if (!this.#inner.bindTools) throw new TypeError(`${this.#inner.getName()} takes no tools.`);
    const bound = this.#guarded(this.#inner.bindTools(tools, options));
    if (!bound) throw new TypeError(`The model that ${this.#inner.getName()} gave tools to cannot be guarded.`);
    return bound;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the base class cannot be written down by its subclasses
  override withStructuredOutput(schema: any, config?: StructuredOutputMethodOptions<boolean>): any {
    const made = this.#inner.withStructuredOutput(schema, config as StructuredOutputMethodOptions<false>);
    // Where the model cannot be found in what it made, what all models do by their tools does as well.
    return this.#guarded(made as Runnable) ?? super.withStructuredOutput(schema, config as never);
  }

  #guarded<Made extends Runnable>(made: Made): Made | undefined {
    return withModels(made, (model) => new GuardedChatModel(model, this.#guard, this.#options));
  }
}
