import type { AnswerStream, StreamStep } from "../../stream/answer-stream.ts";
import { GuardError } from "../../support/errors.ts";
import type { GuardReport } from "../guard.ts";
import { problemError, unreachable } from "./errors.ts";
import { type GuardServer, type OpenRequest, readReply } from "./guard-server.ts";
import type * as Replies from "./replies.ts";

/**
 * The most milliseconds that {@link RemoteAnswerStream.push} waits for what the server says of the piece. A server nearby answers in
 * less than one. Behind a longer way, pieces go out without waiting for those before them, so that the way costs time once and not
 * once for each piece.
 */
const PATIENCE = 5;

/** How many pieces may be under way. More wait, so that neither side keeps more than this. */
const MOST_UNDER_WAY = 64;

/** The longest piece in one line, in UTF-16 code units. In JSON it is six times as long at most, which a server's limit leaves room for. */
const LONGEST_LINE = 65_536;

/** The most milliseconds between the report and the end of the reply. */
const LINGER = 1000;

/** Soon. A stream waits for nothing but its driver. */
const SOON = 1;

/**
 * An answer that a guard server scans while it arrives. It is one HTTP request, opened by the first piece: each piece is a line of its
 * body, and the server answers each line with one event.
 *
 * {@link push} resolves with everything that the server has given out so far, which may be what came of earlier pieces. What is
 * still under way comes with a later step: {@link waiting} then is a number, and {@link flush} waits for it. All of it has come with
 * {@link end}.
 */
export class RemoteAnswerStream implements AnswerStream<GuardReport> {
  readonly #server: GuardServer;
  readonly #start: () => Promise<Record<string, unknown>>;
  readonly #signal: AbortSignal | undefined;
  #opening: Promise<OpenRequest> | undefined;
  /** How many lines have no event yet. */
  #underWay = 0;
  /** What was given out and not handed on yet. */
  #text = "";
  #report: GuardReport | undefined;
  #failure: { error: unknown } | undefined;
  /** What the server says that its own stream waits for. */
  #serverWaits: number | undefined;
  #isEnding = false;
  #hasEnded = false;
  #wake: () => void = () => {};

  /** @param start makes the first line of the body. */
  constructor(server: GuardServer, start: () => Promise<Record<string, unknown>>, signal: AbortSignal | undefined) {
    this.#server = server;
    this.#start = start;
    this.#signal = signal;
  }

  async push(piece: string): Promise<StreamStep<GuardReport>> {
    this.#checkOpen();
    const request = await this.#open();
    for (let at = 0; at < piece.length && !this.#report; at += LONGEST_LINE) {
      await this.#until(() => this.#underWay < MOST_UNDER_WAY);
      if (!this.#report) await this.#ask(request, { text: piece.slice(at, at + LONGEST_LINE) });
    }
    await this.#until(() => this.#underWay === 0, PATIENCE);
    return this.#step();
  }

  async flush(): Promise<StreamStep<GuardReport>> {
    this.#checkOpen();
    if (!this.#opening) return { text: "" };
    const request = await this.#opening;
    const isIdle = this.#underWay === 0 && this.#text === "" && !this.#report;
    if (isIdle && this.#serverWaits !== undefined) await this.#ask(request, { flush: true });
    await this.#until(() => this.#underWay === 0);
    return this.#step();
  }

  get waiting(): number | undefined {
    if (this.#hasEnded) return undefined;
    const hasNews = this.#underWay > 0 || this.#text !== "" || this.#report || this.#failure;
    return hasNews ? SOON : this.#serverWaits;
  }

  async end(): Promise<StreamStep<GuardReport>> {
    this.#checkOpen();
    const request = await this.#open();
    if (!this.#report) {
      this.#isEnding = true;
      await request.write({ end: true });
      request.end();
    }
    await this.#until(() => this.#report !== undefined);
    const report = this.#report as GuardReport;
    this.#hasEnded = true;
    return { text: report.outcome === "blocked" ? "" : this.#text, report };
  }

  #checkOpen(): void {
    if (this.#hasEnded) throw new GuardError("GUARD_CLOSED", "The answer has ended.");
  }

  #open(): Promise<OpenRequest> {
    this.#opening ??= (async () => {
      const start = { ...(await this.#start()), every_step: true };
      const request = await this.#server.open("analyze/output/stream", start, this.#signal);
      void this.#read(request);
      return request;
    })();
    return this.#opening;
  }

  async #ask(request: OpenRequest, line: Record<string, unknown>): Promise<void> {
    this.#underWay++;
    await request.write(line);
  }

  /** Reads the events of a request to its end. After the report nothing is expected but that end, which lets the connection be used again. */
  async #read(request: OpenRequest): Promise<void> {
    let lingering: NodeJS.Timeout | undefined;
    try {
      const replies = await import("./replies.ts");
      for await (const line of request.lines()) {
        if (this.#report) continue;
        this.#take(line, replies);
        this.#wake();
        if (!this.#report) continue;
        if (!this.#isEnding) request.end();
        lingering = setTimeout(() => request.close(), LINGER);
      }
      if (!this.#report) throw unreachable("ended its reply too early");
    } catch (error) {
      if (!this.#report) this.#failure ??= { error };
    } finally {
      clearTimeout(lingering);
      request.close();
      this.#wake();
    }
  }

  #take(line: unknown, { reportOf, streamEvent }: typeof Replies): void {
    const event = readReply(streamEvent, line);
    if (event.event === "error") throw problemError(event.status, event);
    if (event.event !== "text") {
      this.#report = reportOf(event);
      this.#underWay = 0;
      return;
    }
    this.#text += event.text;
    this.#serverWaits = event.waiting ?? undefined;
    if (this.#underWay > 0) this.#underWay--;
    else if (!this.#isEnding) throw unreachable("sent a reply that makes no sense: an event that nobody asked for");
  }

  /**
   * Waits until something holds, or for so many milliseconds.
   *
   * @throws what went wrong with the request. When the server does not answer at all, it is cut.
   */
  async #until(holds: () => boolean, patience?: number): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, patience ?? this.#server.timeout);
    try {
      while (!this.#failure && !holds() && !isLate) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
    if (this.#failure) throw this.#failure.error;
    if (isLate && patience === undefined && !holds()) {
      this.#failure = { error: this.#server.late() };
      (await this.#opening)?.close();
      throw this.#failure.error;
    }
  }

  /** Hands on what has come. What was given out before the answer was blocked comes before the report. */
  #step(): StreamStep<GuardReport> {
    const text = this.#text;
    this.#text = "";
    if (!this.#report || (this.#report.outcome === "blocked" && text !== "")) return { text };
    this.#hasEnded = true;
    return { text, report: this.#report };
  }
}
