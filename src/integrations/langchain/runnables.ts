import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable } from "@langchain/core/runnables";
import { isRecord } from "../../support/is-record.ts";
import { cloneWith } from "./clone.ts";

type Replace = (model: BaseChatModel) => BaseChatModel;

/**
 * Replaces the chat models in a runnable: a model, a model with bound options or fallbacks, or a chain that starts with a model. Runnables
 * are recognized by their fields, since a program may have several copies of LangChain.
 *
 * @returns undefined if no model was found.
 */
export function replaceModels<Made extends Runnable>(runnable: Made, replace: Replace): Made | undefined {
  return replaceIn(runnable, replace) as Made | undefined;
}

function replaceIn(runnable: unknown, replace: Replace): unknown {
  if (typeof runnable !== "object" || runnable === null) return;
  if (isChatModel(runnable)) return replace(runnable);
  // RunnableBinding and its subclasses, such as RunnableRetry.
  if ("bound" in runnable) return cloneIfComplete(runnable, { bound: replaceIn(runnable.bound, replace) });
  // RunnableSequence
  if ("first" in runnable && "last" in runnable) {
    return cloneIfComplete(runnable, { first: replaceIn(runnable.first, replace) });
  }
  // RunnableWithFallbacks
  if ("runnable" in runnable && "fallbacks" in runnable && Array.isArray(runnable.fallbacks)) {
    const all = [runnable.runnable, ...runnable.fallbacks].map((item) => replaceIn(item, replace));
    // If a fallback has no model, it would not be guarded.
    if (all.some((item) => item === undefined)) return;
    const [first, ...fallbacks] = all;
    return cloneIfComplete(runnable, { runnable: first, fallbacks });
  }
  // RunnableMap
  if ("steps" in runnable && isRecord(runnable.steps)) {
    const steps = Object.entries(runnable.steps);
    const made = steps.map(([key, step]) => [key, replaceIn(step, replace) ?? step] as const);
    if (made.every(([, step], index) => step === steps[index]?.[1])) return;
    return cloneIfComplete(runnable, { steps: Object.fromEntries(made) });
  }
  return;
}

function cloneIfComplete(runnable: object, changes: Record<string, unknown>): unknown {
  return Object.values(changes).includes(undefined) ? undefined : cloneWith(runnable, changes as object);
}

function isChatModel(runnable: object): runnable is BaseChatModel {
  const { _generate, _modelType } = runnable as Partial<BaseChatModel>;
  return typeof _generate === "function" && _modelType?.call(runnable) === "base_chat_model";
}
