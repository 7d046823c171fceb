import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Problem, problemBody, REFUSALS } from "./problem.ts";

/** Limits of the lingering close: how much of a request is read and discarded after its response was sent. */
export interface LingerLimits {
  maxBytes: number;
  totalMs: number;
  idleMs: number;
}

/** The times are those of nginx (`lingering_time` and `lingering_timeout`). */
export const LINGER: LingerLimits = { maxBytes: 64 * 1024 * 1024, totalMs: 30_000, idleMs: 5000 };

/** How long bytes that follow a malformed request are discarded. */
const MALFORMED_LINGER_MS = 1000;

const PROBE_INTERVAL_MS = 250;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * A client connection. It adds three behaviours to Node.js:
 *
 * - Pipelined requests (RFC 9112, section 9.3.2) are handled one at a time, and reading pauses while some wait. Node.js starts all of them
 *   at once, so one connection could fill every queue.
 * - Lingering close: the connection ends after the client has sent its request, within limits. Closing with unread bytes resets it, and
 *   the client could lose the response (RFC 9112, section 9.6).
 * - A client that half-closes after its request still gets the response. Interim responses probe whether it is still there.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #handle: RequestListener;
  readonly #limits: LingerLimits;
  readonly #destroySoon: () => void;
  readonly #waiting: Exchange[] = [];
  #current: Exchange | undefined;
  /** The error code of malformed bytes that follow requests in progress. */
  #malformed: string | undefined;
  /** Whether no further request is answered. Incoming bytes are discarded. */
  #isEnding = false;
  #isHalfClosed = false;
  #onDiscarded: (() => void) | undefined;

  constructor(socket: Socket, handle: RequestListener, limits: LingerLimits) {
    this.#socket = socket;
    this.#handle = handle;
    this.#limits = limits;
    this.#destroySoon = socket.destroySoon.bind(socket);
    // Node.js calls this after the last response of a connection.
    socket.destroySoon = () => this.#end();
    socket.on("resume", () => {
      // Node.js resumes the connection when the body of a request is read.
      if (this.#waiting.length > 0) socket.pause();
    });
    socket.on("end", () => {
      this.#isHalfClosed = true;
      this.#probe();
    });
  }

  /** Handles a request, after those before it. */
  take(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isEnding || this.#malformed !== undefined) return;
    if (this.#current) {
      this.#waiting.push({ request, response });
      this.#socket.pause();
    } else this.#begin({ request, response });
  }

  /** Responds to malformed bytes after the requests before them, and ends the connection. */
  fail(code: string): void {
    if (!this.#socket.writable || code === "ECONNRESET") {
      // After its own side has ended, the parser reports an error for each further chunk.
      if (this.#isEnding && code !== "ECONNRESET") this.#onDiscarded?.();
      else this.#socket.destroy();
      return;
    }
    if (this.#current?.request.complete) {
      this.#malformed = code;
      return;
    }
    if (!this.#current?.response.headersSent) this.#socket.write(malformedResponse(code));
    this.#linger(undefined);
  }

  #begin(exchange: Exchange): void {
    const { request, response } = exchange;
    this.#current = exchange;
    response.once("finish", () => {
      // If the connection is kept alive, Node.js reads the rest of the request and discards it.
      if (!request.complete && !this.#isEnding) this.#discard(request, () => {});
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
    else if (this.#malformed !== undefined) {
      this.#socket.write(malformedResponse(this.#malformed));
      this.#linger(undefined);
    }
    if (this.#waiting.length === 0) this.#socket.resume();
  }

  /** Ends the connection when everything is written. */
  #end(): void {
    const request = this.#current?.request;
    if (request && !request.complete) this.#linger(request);
    else this.#destroySoon();
  }

  /** Ends this side of the connection, and reads until the client ends its side. */
  #linger(request: IncomingMessage | undefined): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#waiting.length = 0;
    this.#socket.end();
    this.#discard(request, () => this.#destroySoon());
    this.#socket.resume();
  }

  /** Reads and discards the rest of a request, or any bytes, and destroys the connection at a limit. */
  #discard(request: IncomingMessage | undefined, onEnd: () => void): void {
    const socket = this.#socket;
    const { maxBytes, idleMs } = this.#limits;
    const totalMs = request ? this.#limits.totalMs : MALFORMED_LINGER_MS;
    const bytesBefore = socket.bytesRead;
    const destroy = () => void socket.destroy();
    const totalTimer = setTimeout(destroy, totalMs).unref();
    const idleTimer = setTimeout(destroy, idleMs).unref();
    const onData = () => {
      idleTimer.refresh();
      if (socket.bytesRead - bytesBefore > maxBytes) destroy();
    };
    const done = () => {
      clearTimeout(totalTimer);
      clearTimeout(idleTimer);
    };
    this.#onDiscarded = onData;
    socket.once("close", done);
    request?.on("data", onData).once("end", () => {
      done();
      socket.off("close", done);
      onEnd();
    });
    request?.resume();
  }

  /**
   * Probes a half-closed client with interim responses, which are allowed at any time before the response (RFC 9110, section 15.2). The
   * machine of a client that has left sends a reset, and the next write fails. Clients of HTTP/1.0 take no interim responses, so they get
   * a timeout. A client that half-closes during the response does not want the rest.
   */
  #probe(): void {
    const { request, response } = this.#current ?? {};
    if (!request || !response || this.#isEnding || !request.complete) return;
    if (response.headersSent && !response.writableEnded) {
      this.#socket.destroy();
      return;
    }
    if (request.httpVersion === "1.0") {
      const timer = setTimeout(() => response.headersSent || this.#socket.destroy(), this.#limits.idleMs).unref();
      response.once("close", () => clearTimeout(timer));
      return;
    }
    const probe = () => {
      if (!response.headersSent) response.writeProcessing();
    };
    probe();
    const timer = setInterval(probe, PROBE_INTERVAL_MS).unref();
    response.once("close", () => clearInterval(timer));
  }
}

/**
 * Returns the whole response to malformed bytes, headers included.
 *
 * @param code the error code of Node.js, such as `HPE_INVALID_METHOD`.
 */
function malformedResponse(code: string): string {
  const status = ({ ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 } as const)[code] ?? 400;
  const detail = status === 400 ? "This is not a valid HTTP request." : REFUSALS[status];
  const problem = problemBody(new Problem(status, detail));
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${problem.title}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
