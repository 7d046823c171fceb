import type { AnsweredToolCall } from "../messages/conversation.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { CheckResult } from "../scan/check-result.ts";
import type { Edit } from "../scan/edits.ts";
import type { Outcome } from "../scan/outcome.ts";
import type { ScanCoverage } from "../scan/report.ts";
import type { Finding } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import type { AnswerStream } from "../stream/answer-stream.ts";

/** What the scanners say of a request, an answer or other texts, wherever guard runs. */
export interface GuardReport {
  /** What becomes of the texts. With `blocked` nothing of them may go on. */
  outcome: Outcome;
  /** Whether all checks passed. Texts that failed may still go on when what was found was taken out: their outcome is `masked`. */
  isValid: boolean;
  /** One result for each check. A guard on a server tells no edits of single checks. */
  checks: CheckResult[];
  /** Risk scores by the name of the check. A score below 0 means that it passed, and a score above 0 that it failed. */
  resultsScore: Record<string, number>;
  /** Why the checks decided as they did. Offsets count Unicode code points, as in the HTTP API. */
  findings: Record<string, Finding[]>;
  coverage: ScanCoverage;
  /** The checks that ran at the end of an answer that arrived in pieces, because they need all of it. */
  atEnd?: string[];
}

/** A request to a model, and what the scanners say of it. */
export interface CheckedRequest {
  report: GuardReport;
  /** The request as it may be sent on. It must not be sent when the outcome is `blocked`. */
  request: ChatRequest;
}

/** Texts, and what the scanners say of them. */
export interface CheckedTexts {
  report: GuardReport;
  /** The texts as they may be used, in their order. They must not be used when the outcome is `blocked`. */
  texts: string[];
}

/** What a model answered. */
export interface ModelAnswer {
  /** The text. It is empty when the model only called tools. */
  text: string;
  toolCalls?: readonly AnsweredToolCall[];
}

/** What a model answered, and what the scanners say of it. */
export interface CheckedAnswer {
  report: GuardReport;
  /** The text with what was restored, and without what was taken out. It must not be used when the outcome is `blocked`. */
  text: string;
  /** The edits that turn the answer into {@link text}. Offsets count UTF-16 code units of the answer as it was given. */
  edits: readonly Edit[];
  /** The tool calls with what was restored in their arguments, in their order. */
  toolCalls: AnsweredToolCall[];
}

/** How a call of a model is guarded. */
export interface CallOptions {
  /** Ends all checks of the call. They then reject with its reason. */
  signal?: AbortSignal;
  /** The scanners to leave out, by their types or by their names in results. */
  suppress?: readonly string[];
}

/**
 * One call of a model: the request, and the answer to it. The checks of a call share one vault, so that what was replaced in the request
 * is restored in the answer. All methods reject with a GuardError when guard cannot check a text; such a text must not go on.
 */
export interface GuardedCall {
  /**
   * Judges a request before it is sent.
   *
   * @throws GuardValidationError for a request whose shape cannot be read.
   */
  request(chat: ChatRequest): Promise<CheckedRequest>;
  /**
   * Judges texts that belong to no conversation, such as those of which embeddings are made. Each is judged by itself.
   *
   * @param source where the texts come from. The default is `user`.
   */
  texts(texts: readonly string[], source?: Source): Promise<CheckedTexts>;
  /** Judges an answer to the request. An answer of several choices is judged choice by choice. */
  answer(answer: ModelAnswer): Promise<CheckedAnswer>;
  /** Judges the text of an answer while it arrives. A call may have several at the same time, one for each choice. */
  answerStream(): AnswerStream<GuardReport>;
}

/**
 * What gateways, wrapped clients and the proxy ask of guard. It is the same whether the scanners run in this process
 * ({@link ServiceGuard}) or on a server ({@link RemoteGuard}).
 */
export interface Guard {
  /** Begins a call of a model. */
  call(options?: CallOptions): GuardedCall;
  /** Frees what the guard holds. */
  close(): Promise<void>;
}
