import type { Guard, GuardedCall, GuardReport } from "../guard/guard.ts";
import { OUTCOMES, type Outcome } from "../scan/outcome.ts";
import { failingChecks } from "../scan/report.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";

/** What became of the checks of one call, for the log and for metrics. */
export class CallRecord {
  readonly #flagged = new Set<string>();
  readonly #texts: { request: unknown[]; answer: string[] } | undefined;
  /** The worst outcome so far; undefined when nothing was checked. */
  outcome: Outcome | undefined;

  /** @param withTexts whether the texts are kept for the log. */
  constructor(withTexts: boolean) {
    this.#texts = withTexts ? { request: [], answer: [] } : undefined;
  }

  /** The fields of the log line. */
  get fields(): Record<string, unknown> {
    if (this.outcome === undefined) return {};
    const { request, answer } = this.#texts ?? {};
    return {
      outcome: this.outcome,
      flagged: [...this.#flagged],
      ...(this.#texts ? { content: { request, answer: answer?.join("") } } : {}),
    };
  }

  /** A guard whose reports are noted here. */
  of(guard: Guard): Guard {
    return {
      call: (options) => this.#noting(guard.call(options)),
      close: () => guard.close(),
    };
  }

  #noting(call: GuardedCall): GuardedCall {
    const noted = <Checked extends { report?: GuardReport }>(checked: Checked): Checked => {
      if (checked.report) this.#note(checked.report);
      return checked;
    };
    return {
      request: async (chat) => {
        this.#texts?.request.push(chat);
        return noted(await call.request(chat));
      },
      texts: async (texts, source) => {
        this.#texts?.request.push(...texts);
        return noted(await call.texts(texts, source));
      },
      answer: async (answer) => {
        this.#texts?.answer.push(answer.text);
        return noted(await call.answer(answer));
      },
      answerStream: () => this.#notingStream(call.answerStream(), noted),
    };
  }

  #notingStream(
    stream: AnswerStream<GuardReport>,
    noted: (step: StreamStep<GuardReport>) => StreamStep<GuardReport>,
  ): AnswerStream<GuardReport> {
    return {
      push: async (piece) => {
        this.#texts?.answer.push(piece);
        return noted(await stream.push(piece));
      },
      flush: async () => noted(await stream.flush()),
      end: async () => noted(await stream.end()),
      get waiting() {
        return stream.waiting;
      },
    };
  }

  #note({ outcome, resultsScore }: GuardReport): void {
    const worse = this.outcome === undefined || OUTCOMES.indexOf(outcome) > OUTCOMES.indexOf(this.outcome);
    if (worse) this.outcome = outcome;
    for (const check of failingChecks(resultsScore)) this.#flagged.add(check);
  }
}
