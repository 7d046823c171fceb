import { GuardValidationError } from "../errors.ts";
import { GuardBlockedError } from "./blocked.ts";
import type { AnswerStream, StreamStep } from "./guard.ts";

/** A text that arrives in pieces: strings, or bytes in UTF-8 that may end anywhere. */
export type TextStream =
  | AsyncIterable<string | Uint8Array>
  | ReadableStream<string>
  | ReadableStream<Uint8Array>
  | NodeJS.ReadableStream;

/** Tells whether a value is a {@link TextStream}. */
export function isTextStream(value: unknown): value is TextStream {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || "getReader" in value);
}

/**
 * Judges a text while it arrives, and gives out what may be shown. The source is read no faster than the result, and it is ended
 * when the result is.
 *
 * @throws GuardBlockedError when a check failed. Nothing more may be shown then.
 * @throws GuardError when the text cannot be judged.
 * @throws the reason of the signal when it is aborted, and what the source throws.
 */
export async function* guardedText(
  answer: AnswerStream,
  source: TextStream,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { next, stop } = piecesOf(source);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decoded = (piece?: Uint8Array): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (error) {
      throw new GuardValidationError([{ path: "", message: "The answer is not valid UTF-8." }], { cause: error });
    }
  };
  let ended = false;
  let coming: Promise<IteratorResult<string | Uint8Array, unknown>> | undefined;
  try {
    while (!ended) {
      coming ??= next();
      const result = await within(coming, answer.waiting, signal);
      let step: StreamStep;
      if (result === undefined) step = await answer.flush();
      else {
        coming = undefined;
        const { done, value } = result;
        if (!done) step = await answer.push(typeof value === "string" ? value : decoded(value));
        else {
          const rest = decoded();
          const last = rest === "" ? undefined : await answer.push(rest);
          if (last && last.text !== "") yield last.text;
          step = last?.report ? { text: "", report: last.report } : await answer.end();
        }
      }
      if (step.report?.outcome === "blocked") throw new GuardBlockedError("answer", step.report);
      ended = step.report !== undefined;
      if (step.text !== "") yield step.text;
    }
  } finally {
    stop();
  }
}

/** Reads a stream piece by piece. `stop` ends it also while a piece is awaited. */
function piecesOf(source: TextStream): { next(): Promise<IteratorResult<string | Uint8Array, unknown>>; stop(): void } {
  if ("getReader" in source) {
    const reader = source.getReader();
    return {
      next: () => reader.read() as Promise<IteratorResult<string | Uint8Array, unknown>>,
      stop: () => void reader.cancel().catch(() => {}),
    };
  }
  const pieces = (source as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]();
  return {
    next: () => pieces.next(),
    stop() {
      // The iterator of a Node.js stream would end only after the next piece.
      if ("destroy" in source && typeof source.destroy === "function") source.destroy();
      else void Promise.resolve(pieces.return?.()).catch(() => {});
    },
  };
}

/**
 * Waits for a promise, but no longer than some milliseconds.
 *
 * @returns undefined when the time is over.
 * @throws the reason of the signal when it is aborted.
 */
function within<T>(promise: Promise<T>, milliseconds?: number, signal?: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = () => settle(() => reject(signal?.reason));
    const timer =
      milliseconds === undefined ? undefined : setTimeout(() => settle(() => resolve(undefined)), milliseconds);
    const settle = (how: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      how();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    promise.then(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    );
    if (signal?.aborted) onAbort();
  });
}
