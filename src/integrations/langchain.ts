// The public surface of `guard-scan/langchain`.
import type { BaseChatModel, BaseChatModelCallOptions } from "@langchain/core/language_models/chat_models";
import type { BaseRetriever } from "@langchain/core/retrievers";
import type { Runnable } from "@langchain/core/runnables";
import type { Guard } from "../guard/guard.ts";
import { GuardValidationError } from "../support/errors.ts";
import { checkInstalledVersion } from "../support/optional-packages.ts";
import { GuardedChatModel } from "./langchain/model.ts";
import { GuardedRetriever, type GuardedRetrieverOptions } from "./langchain/retriever.ts";
import { withModels } from "./langchain/runnables.ts";
import type { GuardedModelOptions } from "./parts/options.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export { GuardedChatModel } from "./langchain/model.ts";
export { GuardedRetriever, type GuardedRetrieverOptions } from "./langchain/retriever.ts";
export type { GuardedModelOptions, GuardedOptions } from "./parts/options.ts";

/**
 * Guards a chat model of LangChain.js. What comes back is a chat model: it is invoked, streamed, batched, given tools and put into
 * chains as the model itself.
 *
 * ```ts
 * const model = guardChatModel(new ChatOpenAI({ model: "gpt-5" }), guard);
 * ```
 *
 * Each call of the model is one guarded call. What Anonymize replaces goes out as placeholders and is restored in texts, reasoning and
 * arguments of tools, in streams too. A blocked request never reaches the model, and of a blocked answer nothing more is shown: the
 * call throws a {@link GuardBlockedError}, unless `onBlocked` gives a text instead.
 *
 * @param model a chat model, or what its `bindTools`, `withConfig` or `withRetry` made.
 * @throws GuardValidationError for a runnable in which no chat model is found: its calls would not be guarded.
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
  const guarded = withModels(model, (inner) => new GuardedChatModel(inner, guard, options));
  if (!guarded) {
    throw new GuardValidationError([
      { path: "model", message: "expected a chat model, or one with options bound to it" },
    ]);
  }
  return guarded;
}

/**
 * Guards a retriever of LangChain.js: its documents are judged as what a tool returned. A document that is blocked is left out, one of
 * which something was taken out comes without it, and all others come as they are. When guard cannot judge, the retriever fails.
 */
export function guardRetriever<Metadata extends Record<string, unknown>>(
  retriever: BaseRetriever<Metadata>,
  guard: Guard,
  options: GuardedRetrieverOptions = {},
): GuardedRetriever<Metadata> {
  checkInstalledVersion("@langchain/core");
  return new GuardedRetriever(retriever, guard, options);
}
