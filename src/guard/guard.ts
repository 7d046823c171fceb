import type { AnsweredToolCall } from "../messages/conversation.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { CheckResult } from "../scan/check-result.ts";
import type { Edit } from "../scan/edits.ts";
import type { MonitoredOutcome, Outcome } from "../scan/outcome.ts";
import type { ScanCoverage } from "../scan/report.ts";
import type { Finding } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import type { Review } from "../service/review-desk.ts";
import type { AnswerStream } from "../stream/answer-stream.ts";

/** The results of the scanners for a request, an answer or other texts. */
export interface GuardReport extends MonitoredOutcome {
  /**
   * What happens to the texts. `blocked`: they must not be used. `review`: a person should judge them, and they must not be used unless
   * {@link isValid} is true. `isWithheld` tells whether they must not be used.
   */
  outcome: Outcome;
  /**
   * Whether all checks passed, and no text is held for a review. Texts that failed may be used if their findings were removed: the outcome
   * is then `masked`.
   */
  isValid: boolean;
  /** One result for each check. The results of a remote guard have no edits. */
  checks: CheckResult[];
  /** Risk scores by the name of the check: below 0 if it passed, above 0 if it failed. */
  resultsScore: Record<string, number>;
  /** Why the checks decided as they did. Offsets count Unicode code points, as in the HTTP API. */
  findings: Record<string, Finding[]>;
  coverage: ScanCoverage;
  /** The reviews of texts that a person should judge, if a guard server keeps them. */
  reviews?: readonly Review[];
  /** The checks that ran at the end of a streamed answer, because they need the whole text. */
  atEnd?: string[];
}

/** A checked request to a model. */
export interface CheckedRequest {
  report: GuardReport;
  /** The request to send. It must not be sent if the report withholds it. */
  request: ChatRequest;
}

/** Checked texts. */
export interface CheckedTexts {
  report: GuardReport;
  /** The texts to use, in order. They must not be used if the report withholds them. */
  texts: string[];
}

/** An answer of a model. */
export interface ModelAnswer {
  /** The text. It is empty if the model only called tools. */
  text: string;
  toolCalls?: readonly AnsweredToolCall[];
}

/** A checked answer of a model. */
export interface CheckedAnswer {
  report: GuardReport;
  /** The text to return, with restored and without removed values. It must not be used if the report withholds it. */
  text: string;
  /** The edits that turn the answer into {@link text}. Offsets count UTF-16 code units of the answer as it was given. */
  edits: readonly Edit[];
  /** The tool calls in order, with restored values in their arguments. */
  toolCalls: AnsweredToolCall[];
}

/** The options of a guarded call. */
export interface CallOptions {
  /** Aborts all checks of the call. They then reject with its reason. */
  signal?: AbortSignal;
  /** The scanners to skip, by their types or their names in results. */
  suppress?: readonly string[];
  /** The name of the caller, for exceptions of credentials. A guard server takes the name of the credential instead. */
  credential?: string | undefined;
}

/**
 * One call of a model: the request and the answer to it. The checks of a call share a vault, so that values that were replaced in the
 * request are restored in the answer. All methods reject with a GuardError if guard cannot check a text, which must not be used then.
 */
export interface GuardedCall {
  /**
   * Checks a request before it is sent.
   *
   * @throws GuardValidationError for a request that cannot be read.
   */
  request(chat: ChatRequest): Promise<CheckedRequest>;
  /**
   * Checks texts outside a conversation, such as the input of embeddings. Each is checked separately.
   *
   * @param source the source of the texts. The default is `user`.
   */
  texts(texts: readonly string[], source?: Source): Promise<CheckedTexts>;
  /** Checks an answer to the request. Call it once for each choice of an answer. */
  answer(answer: ModelAnswer): Promise<CheckedAnswer>;
  /** Checks the text of a streamed answer. A call may have several at the same time, one for each choice. */
  answerStream(): AnswerStream<GuardReport>;
}

/**
 * The interface that gateways, wrapped clients and the proxy use. The scanners run in this process ({@link LocalGuard}) or on a server
 * ({@link RemoteGuard}).
 */
export interface Guard {
  /** Starts a guarded call of a model. */
  call(options?: CallOptions): GuardedCall;
  /** Releases the resources of the guard. */
  close(): Promise<void>;
}
