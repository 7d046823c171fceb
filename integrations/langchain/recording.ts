import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

/** The call options of {@link RecordingModel}. */
export interface Options extends BaseChatModelCallOptions {
  tools?: unknown[];
  response_format?: unknown;
}

/** An answer of {@link RecordingModel}: the fields of its message, and those of its chunks. */
export interface Script {
  answer?: string | object | undefined;
  chunks?: object[];
}

/** A chat model with scripted answers, which reports every token to its callbacks and records its requests. */
export class RecordingModel extends BaseChatModel<Options, AIMessageChunk> {
  readonly sent: { messages: BaseMessage[]; options: Options }[] = [];
  /** Whether the latest stream was read to its end. */
  hasEnded = false;
  readonly #script: (count: number) => Script;

  constructor(script: Script | ((count: number) => Script)) {
    super({});
    this.#script = typeof script === "function" ? script : () => script;
  }

  override _llmType(): string {
    return "recording";
  }

  override bindTools(
    tools: BindToolsInput[],
    options?: Partial<Options>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, Options> {
    return this.withConfig({ ...options, tools: tools.map((tool) => convertToOpenAITool(tool as never)) });
  }

  override async _generate(
    messages: BaseMessage[],
    options: Options,
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    this.sent.push({ messages, options });
    const { answer = "Fine." } = this.#script(this.sent.length);
    const message = new AIMessage(answer as never);
    await runManager?.handleLLMNewToken(message.text);
    return {
      generations: [{ text: message.text, message, generationInfo: { logprobs: ["secret"], finish_reason: "stop" } }],
      llmOutput: { tokenUsage: { totalTokens: 3 } },
    };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: Options,
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    this.sent.push({ messages, options });
    this.hasEnded = false;
    const { chunks = [] } = this.#script(this.sent.length);
    for (const fields of chunks) {
      const message = new AIMessageChunk(fields as never);
      const text = typeof message.content === "string" ? message.content : "";
      yield new ChatGenerationChunk({ text, message });
      await runManager?.handleLLMNewToken(text);
    }
    this.hasEnded = true;
  }
}
