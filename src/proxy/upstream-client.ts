import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { GuardError } from "../support/errors.ts";
import { outgoing, replyHeaders } from "./headers.ts";

/** A request to upstream. */
export interface UpstreamRequest {
  url: URL;
  method: string;
  headers: Headers;
  /** The whole body, or a stream of it. */
  body?: Uint8Array | Readable | undefined;
  signal: AbortSignal;
}

/** Statuses of replies without a body (RFC 9110, section 15). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Sends requests to upstreams. Unlike the `fetch` of Node.js it adds no headers, waits for a slow model for as long as it is told to,
 * and leaves compressed bodies as they are.
 */
export class UpstreamClient {
  readonly #idleTimeout: number;
  readonly #maxAnswerSize: number;
  /** As Node.js makes its own agents: connections wait five seconds for another request, since most servers keep them for longer. */
  readonly #agents = {
    "http:": new http.Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }),
    "https:": new https.Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }),
  };

  /**
   * @param idleTimeout the most milliseconds in which upstream may send nothing.
   * @param maxAnswerSize the most bytes of an answer that guard reads: it may have to hold all of it.
   */
  constructor(idleTimeout: number, maxAnswerSize: number) {
    this.#idleTimeout = idleTimeout;
    this.#maxAnswerSize = maxAnswerSize;
  }

  /**
   * Sends a request, and resolves when the headers of the reply are there.
   *
   * @throws GuardError `GUARD_UPSTREAM` when there is no reply, or `GUARD_TIMEOUT`, and the reason of the signal when it is aborted.
   */
  send({ url, method, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const secure = url.protocol === "https:";
    // A length without a body would make upstream take the next request of this connection, which may be another client's, for the body.
    if (body === undefined) headers.delete("content-length");
    return new Promise((resolve, reject) => {
      const request = (secure ? https : http).request(url, {
        method,
        headers: outgoing(headers),
        agent: this.#agents[secure ? "https:" : "http:"],
        timeout: this.#idleTimeout,
        signal,
      });
      let reply: IncomingMessage | undefined;
      request.on("timeout", () => {
        const error = new GuardError("GUARD_TIMEOUT", "The upstream has sent nothing for too long.");
        (reply ?? request).destroy(error);
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (signal.aborted) reject(signal.reason);
        else if (error instanceof GuardError) reject(error);
        else {
          const reason = error.code ?? "unknown error";
          reject(new GuardError("GUARD_UPSTREAM", `The upstream could not be reached: ${reason}.`, { cause: error }));
        }
      });
      request.on("response", (response) => {
        reply = response;
        resolve(response);
      });
      if (body instanceof Readable) {
        body.on("error", (error) => request.destroy(error));
        body.pipe(request);
      } else request.end(body);
    });
  }

  /**
   * A `fetch` for requests whose replies are read by guard. Replies that send the client elsewhere are refused: what it sent there would
   * not be checked.
   */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const { method = "GET", signal } = init;
    const headers = new Headers(init.headers);
    let body: Buffer | undefined;
    if (init.body !== undefined && init.body !== null) {
      const typed = new Response(init.body);
      const type = typed.headers.get("content-type");
      if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
      body = Buffer.from(await typed.arrayBuffer());
      headers.set("content-length", String(body.length));
    }
    // What guard reads must not be compressed (RFC 9110, section 12.5.3).
    headers.set("accept-encoding", "identity");
    const url = new URL(input instanceof Request ? input.url : input);
    const reply = await this.send({ url, method, headers, body, signal: signal ?? new AbortController().signal });
    const fault = faultOf(reply);
    if (fault !== undefined) {
      reply.destroy();
      throw new GuardError("GUARD_UPSTREAM", fault);
    }
    const status = reply.statusCode as number;
    const isEmpty = WITHOUT_BODY.has(status) || method === "HEAD";
    if (isEmpty) reply.resume();
    return new Response(isEmpty ? null : bodyOf(reply, this.#maxAnswerSize), {
      status,
      headers: replyHeaders(reply.rawHeaders),
    });
  };

  /** Closes connections that nobody uses. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

function faultOf({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
    return "The upstream sends the client to another address, which is the one that the proxy should have.";
  }
  const { "content-encoding": encoding = "identity" } = headers;
  if (encoding.toLowerCase() !== "identity") {
    return "The upstream has compressed its answer, although it was asked not to.";
  }
  return;
}

/** A body that is read no faster than somebody takes it. That of `Readable.toWeb` would take all of it into memory. */
function bodyOf(reply: IncomingMessage, limit: number): ReadableStream<Uint8Array> {
  let size = 0;
  const chunks = reply[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          size += value?.length ?? 0;
          if (size > limit) {
            reply.destroy();
            throw new GuardError("GUARD_UPSTREAM", "The answer of the upstream is too large.");
          }
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          throw error instanceof GuardError
            ? error
            : new GuardError("GUARD_UPSTREAM", "The upstream has broken off its answer.", { cause: error });
        }
      },
      cancel: () => void reply.destroy(),
    },
    { highWaterMark: 0 },
  );
}
