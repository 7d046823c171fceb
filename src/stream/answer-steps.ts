import { IDLE, type ItemReader, markIdle } from "../support/items.ts";
import type { AnswerStream, StreamStep } from "./answer-stream.ts";

/** How the pieces of an answer are read. */
export interface AnswerStepsOptions<Piece> {
  /** Returns the text of a piece. */
  textOf(piece: Piece): string;
  /** Aborts the answer and its source. The steps then throw its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Pushes the pieces of an answer into its scan, and yields the steps: also those after a wait, and at the end. The last step has the
 * report. The source is read on demand, and closed with the steps.
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
