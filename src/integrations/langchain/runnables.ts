import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type Runnable, RunnableBinding, RunnableMap, RunnableSequence } from "@langchain/core/runnables";
import { cloneWith } from "./clone.ts";

type Replace = (model: BaseChatModel) => BaseChatModel;
type AnyRunnable = Runnable;

/**
 * Puts other models in the place of the chat models in a runnable: a model, a model with options bound to it, or a chain that a model
 * made of itself.
 *
 * @returns undefined when no model was found.
 */
export function withModels<Made extends AnyRunnable>(runnable: Made, replace: Replace): Made | undefined {
  return replaced(runnable, replace) as Made | undefined;
}

function replaced(runnable: AnyRunnable, replace: Replace): AnyRunnable | undefined {
  if (isChatModel(runnable)) return replace(runnable) as AnyRunnable;
  if (RunnableBinding.isRunnableBinding(runnable)) {
    const bound = replaced(runnable.bound, replace);
    return bound && (cloneWith(runnable, { bound }) as AnyRunnable);
  }
  if (RunnableSequence.isRunnableSequence(runnable)) {
    const first = replaced(runnable.steps[0] as AnyRunnable, replace);
    return first && (cloneWith(runnable as object, { first } as object) as AnyRunnable);
  }
  if (runnable instanceof RunnableMap) {
    const steps = Object.entries((runnable as unknown as { steps: Record<string, AnyRunnable> }).steps);
    const made = steps.map(([key, step]) => [key, replaced(step, replace)] as const);
    if (made.every(([, step]) => !step)) return;
    const all = Object.fromEntries(made.map(([key, step], index) => [key, step ?? steps[index]?.[1]]));
    return cloneWith(runnable as object, { steps: all } as object) as AnyRunnable;
  }
  return;
}

/** Tells a chat model by what it can do, since a program may have several copies of LangChain. */
export function isChatModel(runnable: unknown): runnable is BaseChatModel {
  const { _generate, _modelType } = runnable as Partial<BaseChatModel>;
  return typeof _generate === "function" && _modelType?.call(runnable) === "base_chat_model";
}
