import { isWithheld } from "../../scan/outcome.ts";
import type { AnswerStream, StreamStep } from "../../stream/answer-stream.ts";
import { GuardError } from "../../support/errors.ts";
import type { GuardReport } from "../guard.ts";
import { type GuardServerClient, parseReply, type StreamingRequest } from "./guard-server-client.ts";
import type * as Replies from "./reply-schemas.ts";
import { problemError, unreachableError } from "./server-errors.ts";

/**
 * The maximum time in milliseconds that {@link RemoteAnswerStream.push} waits for the server's reply to a piece. A nearby server replies
 * within one. With a slower network, pieces are pipelined, so that the latency counts once and not for each piece.
 */
const PUSH_WAIT_MS = 5;

/** The maximum number of lines without a reply. It bounds the buffers on both sides. */
const MAX_PENDING_LINES = 64;

/** The maximum length of a piece in a line, in UTF-16 code units. JSON is at most six times as long, which is within a server's limit. */
const MAX_LINE_LENGTH = 65_536;

/** The maximum time between the report and the end of the reply, in milliseconds. */
const LINGER_MS = 1000;

/** The value of {@link RemoteAnswerStream.waiting} when text or replies are pending, in milliseconds. */
const SOON_MS = 1;

/**
 * A streamed answer that a guard server scans. The first piece opens one HTTP request. Each piece is a line of its body, and the server
 * replies to each line with one event.
 *
 * {@link push} resolves with all text that the server has released so far, which may belong to earlier pieces. Pending text comes with a
 * later step: {@link waiting} is a number then, and {@link flush} waits for that text. {@link end} returns all remaining text.
 */
export class RemoteAnswerStream implements AnswerStream<GuardReport> {
  readonly #server: GuardServerClient;
  readonly #start: () => Promise<Record<string, unknown>>;
  readonly #signal: AbortSignal | undefined;
  #opening: Promise<StreamingRequest> | undefined;
  /** The number of lines without an event. */
  #pendingLines = 0;
  /** Released text that was not returned yet. */
  #text = "";
  #report: GuardReport | undefined;
  #failure: { error: unknown } | undefined;
  /** `waiting` of the server's stream. */
  #serverWaiting: number | undefined;
  #isEnding = false;
  #isEnded = false;
  #wake: () => void = () => {};

  /** @param start creates the first line of the body. */
  constructor(
    server: GuardServerClient,
    start: () => Promise<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ) {
    this.#server = server;
    this.#start = start;
    this.#signal = signal;
  }

  async push(piece: string): Promise<StreamStep<GuardReport>> {
    this.#checkOpen();
    const request = await this.#open();
    for (let at = 0; at < piece.length && !this.#report; at += MAX_LINE_LENGTH) {
      await this.#waitUntil(() => this.#pendingLines < MAX_PENDING_LINES);
      if (!this.#report) await this.#send(request, { text: piece.slice(at, at + MAX_LINE_LENGTH) });
    }
    await this.#waitUntil(() => this.#pendingLines === 0, PUSH_WAIT_MS);
    return this.#step();
  }

  async flush(): Promise<StreamStep<GuardReport>> {
    this.#checkOpen();
    if (!this.#opening) return { text: "" };
    const request = await this.#opening;
    const isIdle = this.#pendingLines === 0 && this.#text === "" && !this.#report;
    if (isIdle && this.#serverWaiting !== undefined) await this.#send(request, { flush: true });
    await this.#waitUntil(() => this.#pendingLines === 0);
    return this.#step();
  }

  get waiting(): number | undefined {
    if (this.#isEnded) return undefined;
    const hasNews = this.#pendingLines > 0 || this.#text !== "" || this.#report || this.#failure;
    return hasNews ? SOON_MS : this.#serverWaiting;
  }

  async end(): Promise<StreamStep<GuardReport>> {
    this.#checkOpen();
    const request = await this.#open();
    if (!this.#report) {
      this.#isEnding = true;
      await request.write({ end: true });
      request.end();
    }
    await this.#waitUntil(() => this.#report !== undefined);
    const report = this.#report as GuardReport;
    this.#isEnded = true;
    return { text: isWithheld(report) ? "" : this.#text, report };
  }

  #checkOpen(): void {
    if (this.#isEnded) throw new GuardError("GUARD_CLOSED", "The answer has ended.");
  }

  #open(): Promise<StreamingRequest> {
    this.#opening ??= (async () => {
      const start = { ...(await this.#start()), every_step: true };
      const request = await this.#server.open("analyze/output/stream", start, this.#signal);
      void this.#read(request);
      return request;
    })();
    return this.#opening;
  }

  async #send(request: StreamingRequest, line: Record<string, unknown>): Promise<void> {
    this.#pendingLines++;
    await request.write(line);
  }

  /** Reads all events of a request. After the report only the end of the reply is expected, so that the connection can be reused. */
  async #read(request: StreamingRequest): Promise<void> {
    let lingering: NodeJS.Timeout | undefined;
    try {
      const replies = await import("./reply-schemas.ts");
      for await (const line of request.lines()) {
        if (this.#report) continue;
        this.#take(line, replies);
        this.#wake();
        if (!this.#report) continue;
        if (!this.#isEnding) request.end();
        lingering = setTimeout(() => request.close(), LINGER_MS);
      }
      if (!this.#report) throw unreachableError("ended its reply too early");
    } catch (error) {
      if (!this.#report) this.#failure ??= { error };
    } finally {
      clearTimeout(lingering);
      request.close();
      this.#wake();
    }
  }

  #take(line: unknown, { toReport, streamEvent }: typeof Replies): void {
    const event = parseReply(streamEvent, line);
    if (event.event === "error") throw problemError(event.status, event);
    if (event.event !== "text") {
      this.#report = toReport(event);
      this.#pendingLines = 0;
      return;
    }
    this.#text += event.text;
    this.#serverWaiting = event.waiting ?? undefined;
    if (this.#pendingLines > 0) this.#pendingLines--;
    else if (!this.#isEnding) throw unreachableError("sent an invalid reply: an unexpected event");
  }

  /**
   * Waits until a condition holds, at most for `limit` milliseconds. Without a limit, the request is cut after the timeout.
   *
   * @throws the error of the request.
   */
  async #waitUntil(condition: () => boolean, limit?: number): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, limit ?? this.#server.timeout);
    try {
      while (!this.#failure && !condition() && !isLate) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
    if (this.#failure) throw this.#failure.error;
    if (isLate && limit === undefined && !condition()) {
      this.#failure = { error: this.#server.timeoutError() };
      (await this.#opening)?.close();
      throw this.#failure.error;
    }
  }

  /** Returns the released text. Text that was released before the answer was blocked comes in a step before the report. */
  #step(): StreamStep<GuardReport> {
    const text = this.#text;
    this.#text = "";
    if (!this.#report || (isWithheld(this.#report) && text !== "")) return { text };
    this.#isEnded = true;
    return { text, report: this.#report };
  }
}
