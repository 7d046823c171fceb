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
import { ModelCall } from "../parts/model-call.ts";
import type { GuardedModelOptions } from "../parts/options.ts";
import { checkMessage, textMessage, textOf } from "./answer.ts";
import { adaptRequest, type ToolOptions } from "./request.ts";
import { replaceModels } from "./runnables.ts";
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
    // The callbacks of the inner model stay with it and receive its actual input and output.
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
    const call = new ModelCall(this.#guard, this.#options, options.signal);
    let answer: BaseMessage | undefined;
    try {
      const { checked, callOptions } = await this.#request(call, messages, options);
      answer = await this.#inner.invoke(checked, callOptions);
      const message = await checkMessage(answer, call);
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
    const abort = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, abort.signal]) : abort.signal;
    const call = new ModelCall(this.#guard, this.#options, signal);
    try {
      const { checked, callOptions } = await this.#request(call, messages, { ...options, signal });
      yield* new GuardedChunks(call).chunks(await this.#inner.stream(checked, callOptions));
    } catch (error) {
      if (!(error instanceof GuardBlockedError) || !this.#options.onBlocked) throw error;
      const { content, response_metadata } = textMessage(this.#options.onBlocked(error));
      yield new AIMessageChunk({ content, response_metadata });
    } finally {
      // If the reader stops, the model stops too.
      abort.abort();
    }
  }

  /** Checks a request. Returns its sanitized messages and options. */
  async #request(call: ModelCall, messages: BaseMessage[], options: this["ParsedCallOptions"]) {
    // Models of OpenAI keep bound options, such as tools, in defaultOptions.
    const { defaultOptions } = this.#inner as { defaultOptions?: Partial<CallOptions> };
    const { chat, withTexts } = adaptRequest(messages, { ...defaultOptions, ...options } as ToolOptions);
    const checked = withTexts(await call.request(chat));
    // The callbacks of the call would receive unchecked texts.
    return {
      checked: checked.messages,
      callOptions: { ...checked.options, callbacks: [] } as unknown as Partial<CallOptions>,
    };
  }

  override bindTools(
    tools: BindToolsInput[],
    options?: Partial<CallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, CallOptions> {
    if (!this.#inner.bindTools) throw new TypeError(`${this.#inner.getName()} does not support tools.`);
    const bound = this.#guarded(this.#inner.bindTools(tools, options));
    if (!bound) throw new TypeError(`The model with tools of ${this.#inner.getName()} cannot be guarded.`);
    return bound;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the base class cannot be written down by its subclasses
  override withStructuredOutput(schema: any, config?: StructuredOutputMethodOptions<boolean>): any {
    const runnable = this.#inner.withStructuredOutput(schema, config as StructuredOutputMethodOptions<false>);
    // If the model is not found in the result, the implementation of the base class with tools is used.
    return this.#guarded(runnable as Runnable) ?? super.withStructuredOutput(schema, config as never);
  }

  #guarded<Type extends Runnable>(runnable: Type): Type | undefined {
    return replaceModels(runnable, (model) => new GuardedChatModel(model, this.#guard, this.#options));
  }
}
