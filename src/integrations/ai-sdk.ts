// The public surface of `guard-scan/ai-sdk`.
import type {
  EmbeddingModelV3Middleware,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3GenerateResult,
  LanguageModelV3Middleware,
  LanguageModelV3StreamResult,
} from "@ai-sdk/provider";
import { GuardBlockedError } from "../guard/blocked-error.ts";
import type { Guard } from "../guard/guard.ts";
import { toReadableStream } from "../support/items.ts";
import { checkVersion } from "../support/package-versions.ts";
import { judgeResult, textResult } from "./ai-sdk/answer.ts";
import { readCall } from "./ai-sdk/call.ts";
import { GuardedAnswer, textParts } from "./ai-sdk/stream.ts";
import { Judge } from "./parts/judge.ts";
import type { GuardedModelOptions, GuardedOptions } from "./parts/options.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export type { GuardedModelOptions, GuardedOptions } from "./parts/options.ts";

/**
 * Guards a language model of Vercel's AI SDK:
 *
 * ```ts
 * const model = wrapLanguageModel({ model: openai("gpt-5"), middleware: guardMiddleware(guard) });
 * ```
 *
 * Each call of the model is one guarded call. What Anonymize replaces goes out as placeholders and is restored in texts, reasoning and
 * arguments of tools, in streams too. A blocked request never reaches the model, and of a blocked answer nothing more is shown: the
 * call throws a {@link GuardBlockedError}, or in a stream ends with it in an `error` part, unless `onBlocked` gives a text instead.
 *
 * @see https://ai-sdk.dev/docs/ai-sdk-core/middleware
 */
export function guardMiddleware(guard: Guard, options: GuardedModelOptions = {}): LanguageModelV3Middleware {
  return {
    specificationVersion: "v3",
    wrapGenerate: ({ model, params }) => generate(guard, options, model, params),
    wrapStream: ({ model, params }) => stream(guard, options, model, params),
  };
}

/**
 * Guards an embedding model of Vercel's AI SDK, with `wrapEmbeddingModel`. Each value is judged by itself as a text of the user; what
 * is embedded has placeholders in the place of personal data. A blocked value throws a {@link GuardBlockedError}.
 */
export function guardEmbeddingMiddleware(guard: Guard, options: GuardedOptions = {}): EmbeddingModelV3Middleware {
  return {
    specificationVersion: "v3",
    async wrapEmbed({ model, params }) {
      checkModel(model);
      const values = await new Judge(guard, options, params.abortSignal).texts(params.values);
      return model.doEmbed({ ...params, values });
    },
  };
}

async function generate(
  guard: Guard,
  options: GuardedModelOptions,
  model: LanguageModelV3,
  params: LanguageModelV3CallOptions,
): Promise<LanguageModelV3GenerateResult> {
  checkModel(model);
  const judge = new Judge(guard, options, params.abortSignal);
  let result: LanguageModelV3GenerateResult | undefined;
  try {
    const { chat, back } = readCall(params);
    result = await model.doGenerate(back(await judge.request(chat)));
    return await judgeResult(result, judge);
  } catch (error) {
    if (!(error instanceof GuardBlockedError) || !options.onBlocked) throw error;
    return textResult(options.onBlocked(error), result);
  }
}

async function stream(
  guard: Guard,
  options: GuardedModelOptions,
  model: LanguageModelV3,
  params: LanguageModelV3CallOptions,
): Promise<LanguageModelV3StreamResult> {
  checkModel(model);
  const left = new AbortController();
  const signal = params.abortSignal ? AbortSignal.any([params.abortSignal, left.signal]) : left.signal;
  const judge = new Judge(guard, options, signal);
  try {
    const { chat, back } = readCall(params);
    const result = await model.doStream({ ...back(await judge.request(chat)), abortSignal: signal });
    const answer = new GuardedAnswer(judge, options.onBlocked);
    const parts = endingWith(left, answer.parts(result.stream, signal));
    return { ...result, stream: toReadableStream(parts, (reason) => left.abort(reason)) };
  } catch (error) {
    if (!(error instanceof GuardBlockedError) || !options.onBlocked) throw error;
    const { onBlocked } = options;
    return { stream: toReadableStream(startedParts(onBlocked(error))) };
  }
}

/**
 * Refuses models of other versions of the specification, whose calls and answers have other fields. Version 2 of the specification is
 * version 2 of its package.
 */
function checkModel({ specificationVersion }: { specificationVersion?: string }): void {
  checkVersion("@ai-sdk/provider", specificationVersion?.slice(1));
}

/** Frees what the checks of a stream hold when it has ended, however it ends. */
async function* endingWith<Part>(stop: AbortController, parts: AsyncGenerator<Part>): AsyncGenerator<Part> {
  try {
    yield* parts;
  } finally {
    stop.abort();
  }
}

function* startedParts(text: string) {
  yield { type: "stream-start" as const, warnings: [] };
  yield* textParts(text);
}
