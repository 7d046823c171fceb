import { isWithheld } from "../../scan/outcome.ts";
import type { ServiceReport } from "../../service/service-types.ts";
import type { AnswerStream, StreamStep } from "../../stream/answer-stream.ts";
import { awaitWithin } from "../../support/promises.ts";
import type { OutputPiece, OutputPieces } from "./output-pieces.ts";

/** An event about an output that a client sends piece by piece. `waiting` is {@link AnswerStream.waiting}, with `everyStep` only. */
export type OutputEvent =
  | { event: "text"; text: string; waiting?: number | null }
  | { event: "end"; report: ServiceReport };

export interface OutputEventsOptions {
  /**
   * Whether each piece has an event, possibly with an empty text, and the client requests held text itself. Otherwise there is an event
   * whenever text is released, also after a timeout.
   */
  everyStep: boolean;
}

/** Scans the pieces of an output. It reads the next piece when the events of the last one were consumed. */
export async function* outputEvents(
  pieces: OutputPieces,
  stream: AnswerStream<ServiceReport>,
  { everyStep }: OutputEventsOptions,
): AsyncGenerator<OutputEvent> {
  let pending: Promise<OutputPiece> | undefined;
  for (;;) {
    pending ??= pieces.next();
    const piece = await awaitWithin(pending, everyStep ? undefined : stream.waiting);
    if (piece) pending = undefined;
    const steps = piece ? stepsOf(piece, stream) : [() => stream.flush()];
    for (const run of steps) {
      const { text, report }: StreamStep<ServiceReport> = await run();
      if (report) {
        if (!isWithheld(report) && text !== "") yield { event: "text", text };
        yield { event: "end", report };
        return;
      }
      if (everyStep) yield { event: "text", text, waiting: stream.waiting ?? null };
      else if (text !== "") yield { event: "text", text };
    }
  }
}

function stepsOf(
  { text, flush, end }: OutputPiece,
  stream: AnswerStream<ServiceReport>,
): (() => Promise<StreamStep<ServiceReport>>)[] {
  return [
    ...(text === undefined ? [] : [() => stream.push(text)]),
    ...(flush ? [() => stream.flush()] : []),
    ...(end ? [() => stream.end()] : []),
  ];
}
