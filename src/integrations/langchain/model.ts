import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput, StructuredOutputMethodOptions } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { type AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { GuardBlockedError } from "../../guard/blocked.ts";
import type { Guard } from "../../guard/guard.ts";
import { Judge } from "../parts/judge.ts";
import type { GuardedModelOptions } from "../parts/options.ts";
import { judgeGeneration, textMessage } from "./answer.ts";
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
    const { callbacks, tags, metadata, verbose, outputVersion } = inner;
    super({
      verbose,
      ...(callbacks && { callbacks }),
      ...(tags && { tags }),
      ...(metadata && { metadata }),
      ...(outputVersion && { outputVersion }),
    });
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

  override _combineLLMOutput(...outputs: NonNullable<ChatResult["llmOutput"]>[]): ChatResult["llmOutput"] {
    return this.#inner._combineLLMOutput?.(...outputs);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const judge = new Judge(this.#guard, this.#options, options.signal);
    let result: ChatResult | undefined;
    try {
      const { chat, back } = readRequest(messages, options as ReadOptions);
      const checked = back(await judge.request(chat));
      // Callbacks are not handed on: they would be told of texts that nobody has judged.
      result = await this.#inner._generate(checked.messages, checked.options as this["ParsedCallOptions"]);
      const generations: ChatResult["generations"] = [];
      for (const generation of result.generations) generations.push(await judgeGeneration(generation, judge));
      return { ...result, generations };
    } catch (error) {
      if (!(error instanceof GuardBlockedError) || !this.#options.onBlocked) throw error;
      const text = this.#options.onBlocked(error);
      const message = textMessage(text, result?.generations[0]?.message as AIMessage | undefined);
      return { generations: [{ text, message }], ...(result?.llmOutput && { llmOutput: result.llmOutput }) };
    }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const chunk of this.#chunks(messages, options)) {
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  async *#chunks(messages: BaseMessage[], options: this["ParsedCallOptions"]): AsyncGenerator<ChatGenerationChunk> {
    const left = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    const judge = new Judge(this.#guard, this.#options, signal);
    try {
      const { chat, back } = readRequest(messages, options as ReadOptions);
      const checked = back(await judge.request(chat));
      const given = { ...checked.options, signal } as this["ParsedCallOptions"];
      yield* new GuardedChunks(judge).chunks(this.#inner._streamResponseChunks(checked.messages, given));
    } catch (error) {
      if (!(error instanceof GuardBlockedError) || !this.#options.onBlocked) throw error;
      const text = this.#options.onBlocked(error);
      const { content, response_metadata } = textMessage(text);
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk({ content, response_metadata }) });
    } finally {
      // Whoever reads no more needs no more of the model either.
      left.abort();
    }
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
