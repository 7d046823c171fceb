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
import { checkResult, textResult } from "./ai-sdk/answer.ts";
import { adaptCall } from "./ai-sdk/call.ts";
import { GuardedAnswer, textParts } from "./ai-sdk/stream.ts";
import { ModelCall } from "./parts/model-call.ts";
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
 * Each model call is a guarded call. The model gets the placeholders of Anonymize; texts, reasoning and tool arguments of its answer get
 * the real values back, in streams too. A blocked request is not sent to the model. For a blocked request or answer the call throws a
 * {@link GuardBlockedError}, or a stream ends with it in an `error` part, unless `onBlocked` returns a text.
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
 * Guards an embedding model of Vercel's AI SDK, with `wrapEmbeddingModel`. Each value is checked as a text of the user. The model gets
 * placeholders in place of personal data. A blocked value throws a {@link GuardBlockedError}.
 */
export function guardEmbeddingMiddleware(guard: Guard, options: GuardedOptions = {}): EmbeddingModelV3Middleware {
  return {
    specificationVersion: "v3",
    async wrapEmbed({ model, params }) {
      checkModel(model);
      const values = await new ModelCall(guard, options, params.abortSignal).texts(params.values);
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
  const call = new ModelCall(guard, options, params.abortSignal);
  let result: LanguageModelV3GenerateResult | undefined;
  try {
    const { chat, withTexts } = adaptCall(params);
    result = await model.doGenerate(withTexts(await call.request(chat)));
    return await checkResult(result, call);
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
  const abort = new AbortController();
  const signal = params.abortSignal ? AbortSignal.any([params.abortSignal, abort.signal]) : abort.signal;
  const call = new ModelCall(guard, options, signal);
  try {
    const { chat, withTexts } = adaptCall(params);
    const result = await model.doStream({ ...withTexts(await call.request(chat)), abortSignal: signal });
    const answer = new GuardedAnswer(call, options.onBlocked);
    const parts = abortAtEnd(abort, answer.parts(result.stream, signal));
    return { ...result, stream: toReadableStream(parts, (reason) => abort.abort(reason)) };
  } catch (error) {
    if (!(error instanceof GuardBlockedError) || !options.onBlocked) throw error;
    const { onBlocked } = options;
    return { stream: toReadableStream(startedParts(onBlocked(error))) };
  }
}

/**
 * Rejects models with another version of the specification. The version of the specification is the major version of its package.
 */
function checkModel({ specificationVersion }: { specificationVersion?: string }): void {
  checkVersion("@ai-sdk/provider", specificationVersion?.slice(1));
}

/** Aborts a signal when a stream ends, for any reason, to release its checks. */
async function* abortAtEnd<Part>(stop: AbortController, parts: AsyncGenerator<Part>): AsyncGenerator<Part> {
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
