import type { ChatRequest } from "../scan/chat-request.ts";
import { emptyResult } from "../scan/check-result.ts";
import { isWithheld } from "../scan/outcome.ts";
import { checksInReview, failingChecks, reportOf } from "../scan/report.ts";
import type { Source } from "../scan/source.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import type {
  CallOptions,
  CheckedAnswer,
  CheckedRequest,
  CheckedTexts,
  Guard,
  GuardedCall,
  GuardReport,
  ModelAnswer,
} from "./guard.ts";

/** The name in `wouldBlock` of a text that could not be checked. */
const UNCHECKED = "unchecked";

/**
 * A guard whose checks are only reported. Texts go on unchanged, even if another guard blocks them, or cannot check them: without a reason to
 * block, an overloaded or broken guard must not stop calls.
 */
export class MonitoringGuard implements Guard {
  readonly #guard: Guard;

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  call(options: CallOptions = {}): GuardedCall {
    return new MonitoringCall(this.#guard.call(options), options.signal);
  }

  close(): Promise<void> {
    return this.#guard.close();
  }
}

class MonitoringCall implements GuardedCall {
  readonly #call: GuardedCall;
  readonly #signal: AbortSignal | undefined;

  constructor(call: GuardedCall, signal: AbortSignal | undefined) {
    this.#call = call;
    this.#signal = signal;
  }

  async request(chat: ChatRequest): Promise<CheckedRequest> {
    return { report: await this.#reportOf(this.#call.request(chat)), request: chat };
  }

  async texts(texts: readonly string[], source?: Source): Promise<CheckedTexts> {
    return { report: await this.#reportOf(this.#call.texts(texts, source)), texts: [...texts] };
  }

  async answer(answer: ModelAnswer): Promise<CheckedAnswer> {
    const report = await this.#reportOf(this.#call.answer(answer));
    return { report, text: answer.text, edits: [], toolCalls: [...(answer.toolCalls ?? [])] };
  }

  answerStream(): AnswerStream<GuardReport> {
    return new MonitoredStream(this.#call.answerStream(), (checked) => this.#reportOf(checked));
  }

  async #reportOf(checked: Promise<{ report?: GuardReport | undefined }>): Promise<GuardReport> {
    try {
      const { report } = await checked;
      return report ? monitored(report) : uncheckedReport();
    } catch (error) {
      this.#signal?.throwIfAborted();
      // Nobody can read such a request, so it would fail without guard too.
      if (error instanceof GuardValidationError || !(error instanceof GuardError)) throw error;
      return uncheckedReport();
    }
  }
}

/** A streamed answer that is released at once. The checks of its pieces run meanwhile, one after the other. */
class MonitoredStream implements AnswerStream<GuardReport> {
  readonly #stream: AnswerStream<GuardReport>;
  readonly #reportOf: (checked: Promise<{ report?: GuardReport | undefined }>) => Promise<GuardReport>;
  #checked: Promise<StreamStep<GuardReport>> = Promise.resolve({ text: "" });

  constructor(
    stream: AnswerStream<GuardReport>,
    reportOf: (checked: Promise<{ report?: GuardReport | undefined }>) => Promise<GuardReport>,
  ) {
    this.#stream = stream;
    this.#reportOf = reportOf;
  }

  /** Nothing waits. */
  get waiting(): undefined {
    return undefined;
  }

  async push(text: string): Promise<StreamStep<GuardReport>> {
    this.#then(() => this.#stream.push(text));
    return { text };
  }

  async flush(): Promise<StreamStep<GuardReport>> {
    return { text: "" };
  }

  async end(): Promise<StreamStep<GuardReport>> {
    this.#then(() => this.#stream.end());
    return { text: "", report: await this.#reportOf(this.#checked) };
  }

  /** Runs the next step, unless the answer has been decided or has failed already. */
  #then(next: () => Promise<StreamStep<GuardReport>>): void {
    this.#checked = this.#checked.then((step) => (step.report ? step : next()));
    // An error is reported at the end.
    this.#checked.catch(() => {});
  }
}

/** Returns the report of an enforcing guard as one of a guard that monitors. */
function monitored(report: GuardReport): GuardReport {
  const { wouldBlock = [], wouldMask = [], ...rest } = report;
  const failing = failingChecks(report);
  const isBlocked = report.outcome === "blocked";
  const held = isWithheld(report) && !isBlocked ? checksInReview(report) : [];
  const blocking = [...wouldBlock, ...(isBlocked ? failing : held)];
  if (isBlocked && failing.length === 0) blocking.push("require_full_coverage");
  const masking = [...wouldMask, ...(report.outcome === "masked" ? failing : [])];
  return {
    ...rest,
    isValid: true,
    outcome: "passed",
    checks: report.checks.map((check) => Object.assign({}, check, { mode: "monitor" as const })),
    ...(blocking.length > 0 ? { wouldBlock: blocking } : {}),
    ...(masking.length > 0 ? { wouldMask: masking } : {}),
  };
}

function uncheckedReport(): GuardReport {
  const { isValid, checks, resultsScore, findings, coverage } = reportOf(emptyResult());
  return { isValid, outcome: "passed", checks, resultsScore, findings, coverage, wouldBlock: [UNCHECKED] };
}
