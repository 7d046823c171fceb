import type { ServiceReport } from "../../service/service-types.ts";
import type { AnswerStream, StreamStep } from "../../stream/answer-stream.ts";
import { awaitWithin } from "../../support/promises.ts";
import type { AnswerLine, AnswerLines } from "./answer-lines.ts";

/** What a client is told of an answer that it hands in piece by piece. */
export type AnswerEvent =
  /** `waiting` is there when the client asked for every step: see {@link AnswerStream.waiting}. */
  { event: "text"; text: string; waiting?: number | null } | { event: "end"; report: ServiceReport };

/** How an answer is read. */
export interface AnswerEventsOptions {
  /**
   * Whether each line has one event, which may have an empty text. The client then asks itself for what waits. Otherwise there is an
   * event when text is given out, also when it is given out because it has waited for long enough.
   */
  everyStep: boolean;
}

/** Hands the pieces of an answer to its scan, and tells what comes of it. It reads a line when the events before it were taken. */
export async function* answerEvents(
  lines: AnswerLines,
  stream: AnswerStream<ServiceReport>,
  { everyStep }: AnswerEventsOptions,
): AsyncGenerator<AnswerEvent> {
  let coming: Promise<AnswerLine> | undefined;
  for (;;) {
    coming ??= lines.next();
    const line = await awaitWithin(coming, everyStep ? undefined : stream.waiting);
    if (line) coming = undefined;
    const steps = line ? stepsOf(line, stream) : [() => stream.flush()];
    for (const take of steps) {
      const { text, report }: StreamStep<ServiceReport> = await take();
      if (report) {
        if (report.outcome !== "blocked" && text !== "") yield { event: "text", text };
        yield { event: "end", report };
        return;
      }
      if (everyStep) yield { event: "text", text, waiting: stream.waiting ?? null };
      else if (text !== "") yield { event: "text", text };
    }
  }
}

function stepsOf(
  { text, flush, end }: AnswerLine,
  stream: AnswerStream<ServiceReport>,
): (() => Promise<StreamStep<ServiceReport>>)[] {
  return [
    ...(text === undefined ? [] : [() => stream.push(text)]),
    ...(flush ? [() => stream.flush()] : []),
    ...(end ? [() => stream.end()] : []),
  ];
}
