// The public surface of `guard-scan/langchain`.
import type { BaseChatModel, BaseChatModelCallOptions } from "@langchain/core/language_models/chat_models";
import type { BaseRetriever } from "@langchain/core/retrievers";
import type { Runnable } from "@langchain/core/runnables";
import type { Guard } from "../guard/guard.ts";
import { GuardValidationError } from "../support/errors.ts";
import { checkInstalledVersion } from "../support/optional-packages.ts";
import { GuardedChatModel } from "./langchain/model.ts";
import { GuardedRetriever, type GuardedRetrieverOptions } from "./langchain/retriever.ts";
import { replaceModels } from "./langchain/runnables.ts";
import type { GuardedModelOptions } from "./parts/options.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export { GuardedChatModel } from "./langchain/model.ts";
export { GuardedRetriever, type GuardedRetrieverOptions } from "./langchain/retriever.ts";
export type { GuardedModelOptions, GuardedOptions } from "./parts/options.ts";

/**
 * Guards a chat model of LangChain.js. The result is a chat model that can be invoked, streamed, batched, bound to tools and used in
 * chains like the model itself.
 *
 * ```ts
 * const model = guardChatModel(new ChatOpenAI({ model: "gpt-5" }), guard);
 * ```
 *
 * Each model call is a guarded call. The model gets the placeholders of Anonymize; texts, reasoning and tool arguments of its answer get
 * the real values back, in streams too. A blocked request is not sent to the model. For a blocked request or answer the call throws a
 * {@link GuardBlockedError}, unless `onBlocked` returns a text.
 *
 * @param model a chat model, or the result of its `bindTools`, `withConfig` or `withRetry`.
 * @throws GuardValidationError for a runnable without a chat model: its calls would not be guarded.
 */
export function guardChatModel<CallOptions extends BaseChatModelCallOptions>(
  model: BaseChatModel<CallOptions>,
  guard: Guard,
  options?: GuardedModelOptions,
): GuardedChatModel<CallOptions>;
export function guardChatModel<Model extends Runnable>(
  model: Model,
  guard: Guard,
  options?: GuardedModelOptions,
): Model;
export function guardChatModel(model: Runnable, guard: Guard, options: GuardedModelOptions = {}): Runnable {
  checkInstalledVersion("@langchain/core");
  const guarded = replaceModels(model, (inner) => new GuardedChatModel(inner, guard, options));
  if (!guarded) {
    throw new GuardValidationError([
      { path: "model", message: "expected a chat model, or one with options bound to it" },
    ]);
  }
  return guarded;
}

/**
 * Guards a retriever of LangChain.js. Its documents are checked as tool results. Blocked documents are dropped, and sanitized documents
 * replace the originals. If the documents cannot be checked, the retriever throws.
 */
export function guardRetriever<Metadata extends Record<string, unknown>>(
  retriever: BaseRetriever<Metadata>,
  guard: Guard,
  options: GuardedRetrieverOptions = {},
): GuardedRetriever<Metadata> {
  checkInstalledVersion("@langchain/core");
  return new GuardedRetriever(retriever, guard, options);
}
