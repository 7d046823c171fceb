import type { Guard, GuardedCall, GuardReport } from "../guard/guard.ts";
import { OUTCOMES, type Outcome } from "../scan/outcome.ts";
import { failingChecks } from "../scan/report.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";

/** The outcome of one call, for the log and metrics. */
export class CallRecord {
  readonly #flagged = new Set<string>();
  readonly #texts: { request: unknown[]; answer: string[] } | undefined;
  /** The worst outcome so far; undefined if nothing was checked. */
  outcome: Outcome | undefined;

  /** @param withTexts whether the log line has the texts. */
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

  /**
   * Wraps a guard, and records its reports.
   *
   * @param credential the name of the caller's credential.
   */
  observe(guard: Guard, credential: string | undefined): Guard {
    return {
      call: (options) => this.#observeCall(guard.call({ ...options, credential })),
      close: () => guard.close(),
    };
  }

  #observeCall(call: GuardedCall): GuardedCall {
    const recorded = <Checked extends { report?: GuardReport }>(checked: Checked): Checked => {
      if (checked.report) this.#record(checked.report);
      return checked;
    };
    return {
      request: async (chat) => {
        this.#texts?.request.push(chat);
        return recorded(await call.request(chat));
      },
      texts: async (texts, source) => {
        this.#texts?.request.push(...texts);
        return recorded(await call.texts(texts, source));
      },
      answer: async (answer) => {
        this.#texts?.answer.push(answer.text);
        return recorded(await call.answer(answer));
      },
      answerStream: () => this.#observeStream(call.answerStream(), recorded),
    };
  }

  #observeStream(
    stream: AnswerStream<GuardReport>,
    recorded: (step: StreamStep<GuardReport>) => StreamStep<GuardReport>,
  ): AnswerStream<GuardReport> {
    return {
      push: async (piece) => {
        this.#texts?.answer.push(piece);
        return recorded(await stream.push(piece));
      },
      flush: async () => recorded(await stream.flush()),
      end: async () => recorded(await stream.end()),
      get waiting() {
        return stream.waiting;
      },
    };
  }

  #record({ outcome, resultsScore }: GuardReport): void {
    const isWorse = this.outcome === undefined || OUTCOMES.indexOf(outcome) > OUTCOMES.indexOf(this.outcome);
    if (isWorse) this.outcome = outcome;
    for (const check of failingChecks(resultsScore)) this.#flagged.add(check);
  }
}
