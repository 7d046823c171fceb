import type { Guard, GuardedCall, GuardReport } from "../guard/guard.ts";
import { OUTCOMES, type Outcome } from "../scan/outcome.ts";
import { checksInReview, failingChecks } from "../scan/report.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";

/** Headers with the names of checks that only monitor, and would have blocked or masked the call. */
const WOULD_BLOCK = "x-guard-would-block";
const WOULD_MASK = "x-guard-would-mask";
/** The header with the outcome of a call that a person should judge. */
const OUTCOME = "x-guard-outcome";
/** The header with the ids of its reviews. */
const REVIEW = "x-guard-review";

/** The outcome of one call, for the log and metrics. */
export class CallRecord {
  readonly #flagged = new Set<string>();
  readonly #inReview = new Set<string>();
  readonly #reviews = new Set<string>();
  readonly #wouldBlock = new Set<string>();
  readonly #wouldMask = new Set<string>();
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
      ...(this.#inReview.size > 0 ? { in_review: [...this.#inReview] } : {}),
      ...(this.#reviews.size > 0 ? { reviews: [...this.#reviews] } : {}),
      ...(this.#wouldBlock.size > 0 ? { would_block: [...this.#wouldBlock] } : {}),
      ...(this.#wouldMask.size > 0 ? { would_mask: [...this.#wouldMask] } : {}),
      ...(this.#texts ? { content: { request, answer: answer?.join("") } } : {}),
    };
  }

  /** The headers of the response. Those of a streamed answer are sent before the answer is checked, so they are about the request alone. */
  get headers(): Record<string, string> {
    return {
      ...(this.#wouldBlock.size > 0 ? { [WOULD_BLOCK]: [...this.#wouldBlock].join(", ") } : {}),
      ...(this.#wouldMask.size > 0 ? { [WOULD_MASK]: [...this.#wouldMask].join(", ") } : {}),
      ...(this.outcome === "review" ? { [OUTCOME]: this.outcome } : {}),
      ...(this.#reviews.size > 0 ? { [REVIEW]: [...this.#reviews].join(", ") } : {}),
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

  #record(report: GuardReport): void {
    const { outcome, wouldBlock = [], wouldMask = [] } = report;
    const isWorse = this.outcome === undefined || OUTCOMES.indexOf(outcome) > OUTCOMES.indexOf(this.outcome);
    if (isWorse) this.outcome = outcome;
    for (const check of failingChecks(report)) this.#flagged.add(check);
    for (const name of checksInReview(report)) this.#inReview.add(name);
    for (const { id } of report.reviews ?? []) this.#reviews.add(id);
    for (const check of wouldBlock) this.#wouldBlock.add(check);
    for (const check of wouldMask) this.#wouldMask.add(check);
  }
}
