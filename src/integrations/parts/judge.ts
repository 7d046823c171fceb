import { type ExchangePart, throwIfBlocked } from "../../guard/blocked-error.ts";
import type { Guard, GuardedCall, GuardReport, ModelAnswer } from "../../guard/guard.ts";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import type { ChatRequest } from "../../scan/chat-request.ts";
import type { Source } from "../../scan/source.ts";
import type { AnswerStream, StreamStep } from "../../stream/answer-stream.ts";
import type { GuardedOptions } from "./options.ts";

/**
 * A call of a model as wrappers use it: whatever it returns may be used, since everything that is blocked throws a
 * {@link GuardBlockedError}.
 */
export class Judge {
  readonly #call: GuardedCall;
  readonly #onReport: GuardedOptions["onReport"];

  constructor(guard: Guard, { suppress, onReport }: GuardedOptions, signal: AbortSignal | undefined) {
    this.#call = guard.call({ ...(signal && { signal }), ...(suppress && { suppress }) });
    this.#onReport = onReport;
  }

  /** Returns the request as it may be sent. */
  async request(chat: ChatRequest): Promise<ChatRequest> {
    const { report, request } = await this.#call.request(chat);
    this.#settle("request", report);
    return request;
  }

  /** Returns texts as they may be used. */
  async texts(texts: readonly string[], source?: Source): Promise<string[]> {
    const checked = await this.#call.texts(texts, source);
    this.#settle("request", checked.report);
    return checked.texts;
  }

  /** Returns an answer as it may be shown. */
  async answer(answer: ModelAnswer): Promise<{ text: string; toolCalls: AnsweredToolCall[] }> {
    const { report, ...checked } = await this.#call.answer(answer);
    this.#settle("answer", report);
    return checked;
  }

  /** Begins a text of the answer that arrives in pieces. */
  stream(): JudgedText {
    return new JudgedText(this.#call.answerStream(), (report) => this.#settle("answer", report));
  }

  #settle(what: ExchangePart, report: GuardReport): void {
    this.#onReport?.(what, report);
    throwIfBlocked(what, report);
  }
}

/** A text of an answer that arrives in pieces. Each method returns what may be shown now. */
export class JudgedText {
  readonly #stream: AnswerStream<GuardReport>;
  readonly #settle: (report: GuardReport) => void;
  /** What came in and has not gone out yet, as long as nothing was changed. */
  #pending = "";
  #isChanged = false;

  constructor(stream: AnswerStream<GuardReport>, settle: (report: GuardReport) => void) {
    this.#stream = stream;
    this.#settle = settle;
  }

  /** The milliseconds after which {@link flush} would give something out. */
  get waiting(): number | undefined {
    return this.#stream.waiting;
  }

  /** Whether what was shown is not what the model wrote. It is known for sure when the text has ended. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  async push(piece: string): Promise<string> {
    if (!this.#isChanged) this.#pending += piece;
    return this.#taken(await this.#stream.push(piece));
  }

  async flush(): Promise<string> {
    return this.#taken(await this.#stream.flush());
  }

  async end(): Promise<string> {
    const text = this.#taken(await this.#stream.end());
    if (this.#pending !== "") this.#isChanged = true;
    return text;
  }

  #taken({ text, report }: StreamStep<GuardReport>): string {
    if (report) this.#settle(report);
    if (!this.#isChanged && this.#pending.startsWith(text)) this.#pending = this.#pending.slice(text.length);
    else {
      this.#isChanged = true;
      this.#pending = "";
    }
    return text;
  }
}

/** The shortest time after which one of several texts gives something out. */
export function shortestWaiting(texts: Iterable<JudgedText>): number | undefined {
  let shortest: number | undefined;
  for (const { waiting } of texts) {
    if (waiting !== undefined && (shortest === undefined || waiting < shortest)) shortest = waiting;
  }
  return shortest;
}
