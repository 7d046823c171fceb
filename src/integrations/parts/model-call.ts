import { type ExchangePart, throwIfBlocked } from "../../guard/blocked-error.ts";
import type { Guard, GuardedCall, GuardReport, ModelAnswer } from "../../guard/guard.ts";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import type { ChatRequest } from "../../scan/chat-request.ts";
import type { Source } from "../../scan/source.ts";
import type { AnswerStream, StreamStep } from "../../stream/answer-stream.ts";
import type { GuardedOptions } from "./options.ts";

/**
 * A guarded call of a model. Its methods return texts that passed and throw a {@link GuardBlockedError} for texts that are blocked.
 */
export class ModelCall {
  readonly #call: GuardedCall;
  readonly #onReport: GuardedOptions["onReport"];

  constructor(guard: Guard, { suppress, onReport }: GuardedOptions, signal: AbortSignal | undefined) {
    this.#call = guard.call({ ...(signal && { signal }), ...(suppress && { suppress }) });
    this.#onReport = onReport;
  }

  /** Checks a request. Returns it sanitized. */
  async request(chat: ChatRequest): Promise<ChatRequest> {
    const { report, request } = await this.#call.request(chat);
    this.#settle("request", report);
    return request;
  }

  /** Checks texts. Returns them sanitized. */
  async texts(texts: readonly string[], source?: Source): Promise<string[]> {
    const checked = await this.#call.texts(texts, source);
    this.#settle("request", checked.report);
    return checked.texts;
  }

  /** Checks an answer. Returns it sanitized and with the real values of placeholders. */
  async answer(answer: ModelAnswer): Promise<{ text: string; toolCalls: AnsweredToolCall[] }> {
    const { report, ...checked } = await this.#call.answer(answer);
    this.#settle("answer", report);
    return checked;
  }

  /** Starts the check of a streamed text of the answer. */
  stream(): StreamedText {
    return new StreamedText(this.#call.answerStream(), (report) => this.#settle("answer", report));
  }

  #settle(what: ExchangePart, report: GuardReport): void {
    this.#onReport?.(what, report);
    throwIfBlocked(what, report);
  }
}

/** A streamed text of an answer. Each method returns the text that can be released now. */
export class StreamedText {
  readonly #stream: AnswerStream<GuardReport>;
  readonly #settle: (report: GuardReport) => void;
  /** The input that was not released yet, as long as nothing was changed. */
  #pending = "";
  #isChanged = false;

  constructor(stream: AnswerStream<GuardReport>, settle: (report: GuardReport) => void) {
    this.#stream = stream;
    this.#settle = settle;
  }

  /** The milliseconds after which {@link flush} releases text. */
  get waiting(): number | undefined {
    return this.#stream.waiting;
  }

  /** Whether the released text differs from that of the model. It is final when the text has ended. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  async push(piece: string): Promise<string> {
    if (!this.#isChanged) this.#pending += piece;
    return this.#release(await this.#stream.push(piece));
  }

  async flush(): Promise<string> {
    return this.#release(await this.#stream.flush());
  }

  async end(): Promise<string> {
    const text = this.#release(await this.#stream.end());
    if (this.#pending !== "") this.#isChanged = true;
    return text;
  }

  #release({ text, report }: StreamStep<GuardReport>): string {
    if (report) this.#settle(report);
    if (!this.#isChanged && this.#pending.startsWith(text)) this.#pending = this.#pending.slice(text.length);
    else {
      this.#isChanged = true;
      this.#pending = "";
    }
    return text;
  }
}

/** The shortest time after which one of several texts can be flushed. */
export function shortestWait(texts: Iterable<StreamedText>): number | undefined {
  let shortest: number | undefined;
  for (const { waiting } of texts) {
    if (waiting !== undefined && (shortest === undefined || waiting < shortest)) shortest = waiting;
  }
  return shortest;
}
