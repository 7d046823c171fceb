import { answerSteps } from "../stream/answer-steps.ts";
import type { AnswerStream } from "../stream/answer-stream.ts";
import { GuardValidationError } from "../support/errors.ts";
import { type ItemSource, openItems } from "../support/items.ts";
import { throwIfBlocked } from "./blocked.ts";
import type { GuardReport } from "./guard.ts";

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
  answer: AnswerStream<GuardReport>,
  source: TextStream,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decoded = (piece?: Uint8Array): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (error) {
      throw new GuardValidationError([{ path: "", message: "The answer is not valid UTF-8." }], { cause: error });
    }
  };
  const textOf = (piece: string | Uint8Array) => (typeof piece === "string" ? piece : decoded(piece));
  const pieces = openItems(source as ItemSource<string | Uint8Array>);
  for await (const { text, report } of answerSteps(answer, pieces, { textOf, signal })) {
    if (report) {
      throwIfBlocked("answer", report);
      // The bytes must not end within a character.
      decoded();
    }
    if (text !== "") yield text;
  }
}
