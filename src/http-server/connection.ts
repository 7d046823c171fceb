import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { rawProblem } from "./raw-problem.ts";

/** What is read, and dropped, of a request that has been answered before all of it was there. */
export interface LingerLimits {
  /** The most bytes. */
  bytes: number;
  /** The most milliseconds. */
  total: number;
  /** The most milliseconds in which nothing comes. */
  idle: number;
}

/** The times are those of nginx (`lingering_time` and `lingering_timeout`). */
export const LINGER: LingerLimits = { bytes: 64 * 1024 * 1024, total: 30_000, idle: 5000 };

/** The most milliseconds in which what comes behind bytes that are not HTTP is dropped. */
const UNREADABLE = 1000;

/** Milliseconds between two attempts to find out whether a client that sends no more is still there. */
const PROBE_INTERVAL = 250;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * A connection of a client, which decides three things that Node.js leaves open:
 *
 * - One request is worked on at a time. Node.js would begin all requests at once that a client sends one behind another without waiting
 *   (pipelining, RFC 9112, section 9.3.2), so that one connection could fill every queue. Nothing is read while some wait.
 * - It ends only when the client has sent its request, within limits: a connection with unread bytes is reset, and the client could lose
 *   the answer (RFC 9112, section 9.6).
 * - A client that ends its side behind the request still gets the answer. Whether it is there at all shows when something is written.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #handle: RequestListener;
  readonly #limits: LingerLimits;
  readonly #destroySoon: () => void;
  readonly #waiting: Exchange[] = [];
  #current: Exchange | undefined;
  /** Bytes that are no request came behind requests that are to be answered first: the code of the error. */
  #unreadable: string | undefined;
  /** Nothing is answered any more. What still comes is dropped. */
  #isEnding = false;
  /** The client sends no more. */
  #isHalfClosed = false;
  /** Is called when something comes that is dropped. */
  #onDropped: (() => void) | undefined;

  constructor(socket: Socket, handle: RequestListener, limits: LingerLimits) {
    this.#socket = socket;
    this.#handle = handle;
    this.#limits = limits;
    this.#destroySoon = socket.destroySoon.bind(socket);
    // Node.js calls this behind the last answer of a connection.
    socket.destroySoon = () => this.#end();
    socket.on("resume", () => {
      // Whoever reads the body of a request makes Node.js resume the connection.
      if (this.#waiting.length > 0) socket.pause();
    });
    socket.on("end", () => {
      this.#isHalfClosed = true;
      this.#probe();
    });
  }

  /** Works on a request, now or when those before it are answered. */
  take(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isEnding || this.#unreadable !== undefined) return;
    if (this.#current) {
      this.#waiting.push({ request, response });
      this.#socket.pause();
    } else this.#begin({ request, response });
  }

  /** Answers bytes that are not HTTP, and ends the connection. Requests before them are answered first. */
  fail(code: string): void {
    if (!this.#socket.writable || code === "ECONNRESET") {
      // After the end of its own side the parser says so of each piece that still comes.
      if (this.#isEnding && code !== "ECONNRESET") this.#onDropped?.();
      else this.#socket.destroy();
      return;
    }
    if (this.#current?.request.complete) {
      this.#unreadable = code;
      return;
    }
    if (!this.#current?.response.headersSent) this.#socket.write(rawProblem(code));
    this.#linger(undefined);
  }

  #begin(exchange: Exchange): void {
    const { request, response } = exchange;
    this.#current = exchange;
    response.once("finish", () => {
      // Where the connection goes on, Node.js reads the rest of the request and drops it.
      if (!request.complete && !this.#isEnding) this.#drop(request, () => {});
    });
    response.once("close", () => this.#next());
    this.#handle(request, response);
    if (this.#isHalfClosed) this.#probe();
  }

  #next(): void {
    this.#current = undefined;
    if (this.#isEnding || this.#socket.destroyed) return;
    const next = this.#waiting.shift();
    if (next) this.#begin(next);
    else if (this.#unreadable !== undefined) {
      this.#socket.write(rawProblem(this.#unreadable));
      this.#linger(undefined);
    }
    if (this.#waiting.length === 0) this.#socket.resume();
  }

  /** Ends the connection when all is written. */
  #end(): void {
    const request = this.#current?.request;
    if (request && !request.complete) this.#linger(request);
    else this.#destroySoon();
  }

  /** Ends the connection behind what is written, and reads on until the client has sent what it wants. */
  #linger(request: IncomingMessage | undefined): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#waiting.length = 0;
    this.#socket.end();
    this.#drop(request, () => this.#destroySoon());
    this.#socket.resume();
  }

  /** Drops the rest of a request, or whatever comes, and cuts the connection where that is too much. */
  #drop(request: IncomingMessage | undefined, onEnd: () => void): void {
    const socket = this.#socket;
    const { bytes, idle } = this.#limits;
    const total = request ? this.#limits.total : UNREADABLE;
    const before = socket.bytesRead;
    const cut = () => void socket.destroy();
    const atAll = setTimeout(cut, total).unref();
    const silent = setTimeout(cut, idle).unref();
    const onData = () => {
      silent.refresh();
      if (socket.bytesRead - before > bytes) cut();
    };
    const done = () => {
      clearTimeout(atAll);
      clearTimeout(silent);
    };
    this.#onDropped = onData;
    socket.once("close", done);
    request?.on("data", onData).once("end", () => {
      done();
      socket.off("close", done);
      onEnd();
    });
    request?.resume();
  }

  /**
   * Finds out whether a client that ended its side still waits for its answer: it may have gone away altogether. A client that is gone
   * answers what is written to it with a reset, and the next write fails. Interim answers may be written at any time before the answer
   * (RFC 9110, section 15.2), but not to clients of HTTP/1.0, which have a while instead. Who ends its side in the middle of an answer
   * does not want the rest.
   */
  #probe(): void {
    const { request, response } = this.#current ?? {};
    if (!request || !response || this.#isEnding || !request.complete) return;
    if (response.headersSent && !response.writableEnded) {
      this.#socket.destroy();
      return;
    }
    if (request.httpVersion === "1.0") {
      const timer = setTimeout(() => response.headersSent || this.#socket.destroy(), this.#limits.idle).unref();
      response.once("close", () => clearTimeout(timer));
      return;
    }
    const ask = () => {
      if (!response.headersSent) response.writeProcessing();
    };
    ask();
    const timer = setInterval(ask, PROBE_INTERVAL).unref();
    response.once("close", () => clearInterval(timer));
  }
}
