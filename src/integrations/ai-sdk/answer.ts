import type {
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import { otherShape } from "../parts/back.ts";
import type { Judge } from "../parts/judge.ts";

/** Why a call ended that is answered with a text of the user's. */
export const FILTERED: LanguageModelV3FinishReason = { unified: "content-filter", raw: undefined };

/** The usage of a call of which the model has not said any. */
export const NO_USAGE: LanguageModelV3Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** Judges all texts and tool calls of an answer. */
export async function judgeResult(
  result: LanguageModelV3GenerateResult,
  judge: Judge,
): Promise<LanguageModelV3GenerateResult> {
  const calls = result.content.filter((part) => part.type === "tool-call");
  const lastText = result.content.findLastIndex(({ type }) => type === "text");
  let restored: AnsweredToolCall[] = [];
  // What a model does belongs to what it says, so both are judged together where it says something.
  if (lastText < 0 && calls.length > 0)
    restored = await judgeCalls(calls, "", judge).then(({ toolCalls }) => toolCalls);
  const content: LanguageModelV3Content[] = [];
  let isChanged = false;
  for (const [index, part] of result.content.entries()) {
    if (part.type !== "text" && part.type !== "reasoning") {
      content.push(part);
      continue;
    }
    const { text, toolCalls } = await judgeCalls(index === lastText ? calls : [], part.text, judge);
    if (index === lastText) restored = toolCalls;
    isChanged ||= text !== part.text;
    content.push({ ...part, text });
  }
  return {
    ...unread(result),
    content: content.map((part) => (part.type === "tool-call" ? withArguments(part, restored.shift()) : part)),
    ...(isChanged && result.providerMetadata && { providerMetadata: withoutTokens(result.providerMetadata) }),
  };
}

/** Judges calls of tools, with the text beside them. */
export async function judgeCalls(
  calls: readonly LanguageModelV3ToolCall[],
  text: string,
  judge: Judge,
): Promise<{ text: string; toolCalls: AnsweredToolCall[] }> {
  const toolCalls = calls.map(
    ({ toolCallId: id, toolName: name, input }): AnsweredToolCall => ({
      id,
      type: "function",
      function: { name, arguments: input },
    }),
  );
  const checked = await judge.answer(toolCalls.length > 0 ? { text, toolCalls } : { text });
  if (checked.toolCalls.length !== calls.length) throw otherShape();
  return checked;
}

/** A call of a tool with its arguments as guard left them. */
export function withArguments(
  call: LanguageModelV3ToolCall,
  checked: AnsweredToolCall | undefined,
): LanguageModelV3ToolCall {
  const input = checked?.function.arguments;
  if (typeof input !== "string") throw otherShape();
  return { ...call, input };
}

/** A result with a text of the user's in the place of the answer. */
export function textResult(text: string, result?: LanguageModelV3GenerateResult): LanguageModelV3GenerateResult {
  const { providerMetadata: _, ...rest } = result ? unread(result) : { usage: NO_USAGE, warnings: [] };
  return { ...rest, content: [{ type: "text", text }], finishReason: FILTERED };
}

/** The reply of the provider has the answer once more, as the model wrote it. */
function unread({ response, ...result }: LanguageModelV3GenerateResult): LanguageModelV3GenerateResult {
  if (!response) return result;
  const { body: _, ...rest } = response;
  return { ...result, response: rest };
}

/** What a provider says of an answer, without the probabilities of its tokens: they are the answer as the model wrote it. */
export function withoutTokens(metadata: SharedV3ProviderMetadata): SharedV3ProviderMetadata {
  return Object.fromEntries(Object.entries(metadata).map(([provider, { logprobs: _, ...rest }]) => [provider, rest]));
}
