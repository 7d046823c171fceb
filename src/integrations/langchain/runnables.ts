import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable } from "@langchain/core/runnables";
import { isRecord } from "../../support/is-record.ts";
import { cloneWith } from "./clone.ts";

type Replace = (model: BaseChatModel) => BaseChatModel;

/**
 * Puts other models in the place of the chat models in a runnable: a model, a model with options bound to it or with others to fall back
 * to, or a chain that begins with one. Runnables are told by their fields, since a program may have several copies of LangChain.
 *
 * @returns undefined when no model was found.
 */
export function withModels<Made extends Runnable>(runnable: Made, replace: Replace): Made | undefined {
  return replaced(runnable, replace) as Made | undefined;
}

function replaced(runnable: unknown, replace: Replace): unknown {
  if (typeof runnable !== "object" || runnable === null) return;
  if (isChatModel(runnable)) return replace(runnable);
  // RunnableBinding, and what is made of it, such as RunnableRetry.
  if ("bound" in runnable) return withReplaced(runnable, { bound: replaced(runnable.bound, replace) });
  // RunnableSequence
  if ("first" in runnable && "last" in runnable) {
    return withReplaced(runnable, { first: replaced(runnable.first, replace) });
  }
  // RunnableWithFallbacks
  if ("runnable" in runnable && "fallbacks" in runnable && Array.isArray(runnable.fallbacks)) {
    const all = [runnable.runnable, ...runnable.fallbacks].map((item) => replaced(item, replace));
    // One that is not found would not be guarded.
    if (all.some((item) => item === undefined)) return;
    const [first, ...fallbacks] = all;
    return withReplaced(runnable, { runnable: first, fallbacks });
  }
  // RunnableMap
  if ("steps" in runnable && isRecord(runnable.steps)) {
    const steps = Object.entries(runnable.steps);
    const made = steps.map(([key, step]) => [key, replaced(step, replace) ?? step] as const);
    if (made.every(([, step], index) => step === steps[index]?.[1])) return;
    return withReplaced(runnable, { steps: Object.fromEntries(made) });
  }
  return;
}

function withReplaced(runnable: object, changes: Record<string, unknown>): unknown {
  return Object.values(changes).includes(undefined) ? undefined : cloneWith(runnable, changes as object);
}

function isChatModel(runnable: object): runnable is BaseChatModel {
  const { _generate, _modelType } = runnable as Partial<BaseChatModel>;
  return typeof _generate === "function" && _modelType?.call(runnable) === "base_chat_model";
}
