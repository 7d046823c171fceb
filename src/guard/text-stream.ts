import { answerSteps } from "../stream/answer-steps.ts";
import type { AnswerStream } from "../stream/answer-stream.ts";
import { GuardValidationError } from "../support/errors.ts";
import { type ItemSource, openItems } from "../support/items.ts";
import { throwIfBlocked } from "./blocked-error.ts";
import type { GuardReport } from "./guard.ts";

/** A streamed text: strings, or UTF-8 bytes split anywhere. */
export type TextStream =
  | AsyncIterable<string | Uint8Array>
  | ReadableStream<string>
  | ReadableStream<Uint8Array>
  | NodeJS.ReadableStream;

/** Whether a value is a {@link TextStream}. */
export function isTextStream(value: unknown): value is TextStream {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || "getReader" in value);
}

/**
 * Checks a streamed text and yields the text that may be shown. It reads the source only on demand and ends it when its consumer stops.
 *
 * @throws GuardBlockedError if a check fails. No more text may be shown then.
 * @throws GuardError if the text cannot be checked.
 * @throws the reason of the signal if it is aborted, and errors of the source.
 */
export async function* guardTextStream(
  answer: AnswerStream<GuardReport>,
  source: TextStream,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decode = (piece?: Uint8Array): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (error) {
      throw new GuardValidationError([{ path: "", message: "The answer is not valid UTF-8." }], { cause: error });
    }
  };
  const textOf = (piece: string | Uint8Array) => (typeof piece === "string" ? piece : decode(piece));
  const pieces = openItems(source as ItemSource<string | Uint8Array>);
  for await (const { text, report } of answerSteps(answer, pieces, { textOf, signal })) {
    if (report) {
      throwIfBlocked("answer", report);
      // Throws if the bytes end within a character.
      decode();
    }
    if (text !== "") yield text;
  }
}
