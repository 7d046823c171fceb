import { IDLE, type ItemReader, markIdle } from "../support/items.ts";
import type { AnswerStream, StreamStep } from "./answer-stream.ts";

/** How pieces become an answer. */
export interface AnswerStepsOptions<Piece> {
  /** Returns the text of a piece. */
  textOf(piece: Piece): string;
  /** Ends the answer and its source. The steps then throw its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Hands the pieces of an answer to what judges it, and tells what comes of them: also of what has waited for long enough, and of the end.
 * The last step has the report. The source is read no faster than the steps, and it ends with them.
 */
export async function* answerSteps<Report, Piece>(
  answer: AnswerStream<Report>,
  pieces: ItemReader<Piece>,
  { textOf, signal }: AnswerStepsOptions<Piece>,
): AsyncGenerator<StreamStep<Report>, void, undefined> {
  for await (const piece of markIdle(pieces, () => answer.waiting, signal)) {
    const step = piece === IDLE ? await answer.flush() : await answer.push(textOf(piece));
    yield step;
    if (step.report) return;
  }
  yield await answer.end();
}
