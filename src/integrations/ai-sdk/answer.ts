import type {
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import type { ModelCall } from "../parts/model-call.ts";
import { shapeError } from "../parts/write-back.ts";

/** The finish reason of an answer that was replaced. */
export const FILTERED: LanguageModelV3FinishReason = { unified: "content-filter", raw: undefined };

/** The usage if the model reports none. */
export const NO_USAGE: LanguageModelV3Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** Checks all texts and tool calls of an answer. */
export async function checkResult(
  result: LanguageModelV3GenerateResult,
  call: ModelCall,
): Promise<LanguageModelV3GenerateResult> {
  const calls = result.content.filter((part) => part.type === "tool-call");
  const lastText = result.content.findLastIndex(({ type }) => type === "text");
  let restored: AnsweredToolCall[] = [];
  // Tool calls are checked together with the last text, if there is one.
  if (lastText < 0 && calls.length > 0)
    restored = await checkToolCalls(calls, "", call).then(({ toolCalls }) => toolCalls);
  const content: LanguageModelV3Content[] = [];
  let isChanged = false;
  for (const [index, part] of result.content.entries()) {
    if (part.type !== "text" && part.type !== "reasoning") {
      content.push(part);
      continue;
    }
    const { text, toolCalls } = await checkToolCalls(index === lastText ? calls : [], part.text, call);
    if (index === lastText) restored = toolCalls;
    isChanged ||= text !== part.text;
    content.push({ ...part, text });
  }
  return {
    ...withoutRawResponse(result),
    content: content.map((part) => (part.type === "tool-call" ? withArguments(part, restored.shift()) : part)),
    ...(isChanged && result.providerMetadata && { providerMetadata: withoutLogprobs(result.providerMetadata) }),
  };
}

/** Checks tool calls together with a text. */
export async function checkToolCalls(
  calls: readonly LanguageModelV3ToolCall[],
  text: string,
  call: ModelCall,
): Promise<{ text: string; toolCalls: AnsweredToolCall[] }> {
  const toolCalls = calls.map(
    ({ toolCallId: id, toolName: name, input }): AnsweredToolCall => ({
      id,
      type: "function",
      function: { name, arguments: input },
    }),
  );
  const checked = await call.answer(toolCalls.length > 0 ? { text, toolCalls } : { text });
  if (checked.toolCalls.length !== calls.length) throw shapeError();
  return checked;
}

/** A tool call with its checked arguments. */
export function withArguments(
  call: LanguageModelV3ToolCall,
  checked: AnsweredToolCall | undefined,
): LanguageModelV3ToolCall {
  const input = checked?.function.arguments;
  if (typeof input !== "string") throw shapeError();
  return { ...call, input };
}

/** A result with a text in place of the answer. */
export function textResult(text: string, result?: LanguageModelV3GenerateResult): LanguageModelV3GenerateResult {
  const { providerMetadata: _, ...rest } = result ? withoutRawResponse(result) : { usage: NO_USAGE, warnings: [] };
  return { ...rest, content: [{ type: "text", text }], finishReason: FILTERED };
}

/** Removes the body of the provider's response, which has the unchecked answer. */
function withoutRawResponse({ response, ...result }: LanguageModelV3GenerateResult): LanguageModelV3GenerateResult {
  if (!response) return result;
  const { body: _, ...rest } = response;
  return { ...result, response: rest };
}

/** Removes the log probabilities of tokens, which reveal the unchecked answer. */
export function withoutLogprobs(metadata: SharedV3ProviderMetadata): SharedV3ProviderMetadata {
  return Object.fromEntries(Object.entries(metadata).map(([provider, { logprobs: _, ...rest }]) => [provider, rest]));
}
