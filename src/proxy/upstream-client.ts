import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { GuardError } from "../support/errors.ts";
import { nodeHeaders, replyHeaders } from "./headers.ts";

export interface UpstreamRequest {
  url: URL;
  method: string;
  headers: Headers;
  /** The whole body, or a stream of it. */
  body?: Uint8Array | Readable | undefined;
  signal: AbortSignal;
}

/** Statuses of responses without a body (RFC 9110, section 15). */
export const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Sends requests to upstreams. Unlike the `fetch` of Node.js it adds no headers, has a configurable timeout for slow models, and does not
 * decompress bodies.
 */
export class UpstreamClient {
  readonly #idleTimeoutMs: number;
  readonly #maxBytes: number;
  /** The options of the global agents of Node.js. Idle connections close after five seconds, before most servers close them. */
  readonly #agents = {
    "http:": new http.Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }),
    "https:": new https.Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }),
  };

  /** @param limits `maxBytes` limits responses that guard reads, which it may hold in memory as a whole. */
  constructor({ idleTimeoutMs, maxBytes }: { idleTimeoutMs: number; maxBytes: number }) {
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#maxBytes = maxBytes;
  }

  /**
   * Sends a request, and resolves with the headers of the response.
   *
   * @throws GuardError `GUARD_UPSTREAM` or `GUARD_TIMEOUT` without a response; the reason of the signal if it is aborted.
   */
  send({ url, method, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const isSecure = url.protocol === "https:";
    // Request smuggling: with a length but no body, the upstream would read the next request on this connection as the body.
    if (body === undefined) headers.delete("content-length");
    return new Promise((resolve, reject) => {
      const request = (isSecure ? https : http).request(url, {
        method,
        headers: nodeHeaders(headers),
        agent: this.#agents[isSecure ? "https:" : "http:"],
        timeout: this.#idleTimeoutMs,
        signal,
      });
      let reply: IncomingMessage | undefined;
      request.on("timeout", () => {
        const error = new GuardError("GUARD_TIMEOUT", "The upstream did not respond in time.");
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
   * A `fetch` for responses that guard reads. Redirects are errors, because the client would then send its request elsewhere, unchecked.
   */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const { method = "GET", signal } = init;
    const headers = new Headers(init.headers);
    const body = await encodeBody(init.body, headers);
    if (body) headers.set("content-length", String(body.length));
    headers.set("accept-encoding", ACCEPTED_ENCODING);
    const url = new URL(input instanceof Request ? input.url : input);
    const reply = await this.send({ url, method, headers, body, signal: signal ?? new AbortController().signal });
    const { statusCode = 0, headers: received } = reply;
    const fault = answerFault(statusCode, {
      location: received.location,
      encoding: received["content-encoding"],
    });
    if (fault !== undefined) {
      reply.destroy();
      throw new GuardError("GUARD_UPSTREAM", fault);
    }
    const status = reply.statusCode as number;
    const isEmpty = WITHOUT_BODY.has(status) || method === "HEAD";
    if (isEmpty) reply.resume();
    return new Response(isEmpty ? null : bodyOf(reply, this.#maxBytes), {
      status,
      headers: replyHeaders(reply.rawHeaders),
    });
  };

  /** Closes idle connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

/** Guard reads uncompressed responses only: the value of `Accept-Encoding` (RFC 9110, section 12.5.3). */
export const ACCEPTED_ENCODING = "identity";

/** Returns the bytes of a body, and sets its content type if the headers have none. */
export async function encodeBody(body: RequestInit["body"], headers: Headers): Promise<Buffer | undefined> {
  if (body === undefined || body === null) return undefined;
  const typed = new Response(body);
  const type = typed.headers.get("content-type");
  if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
  return Buffer.from(await typed.arrayBuffer());
}

/** Says why guard cannot take a response, by its status and the values of `Location` and `Content-Encoding`. */
export function answerFault(
  status: number,
  { location, encoding = "identity" }: { location: string | undefined; encoding: string | undefined },
): string | undefined {
  if (status >= 300 && status < 400 && location !== undefined) {
    return "The upstream redirects to another address: configure the proxy with that address.";
  }
  // guard does not read errors.
  if (status < 400 && encoding.toLowerCase() !== "identity") {
    return "The upstream has compressed its response, despite Accept-Encoding: identity.";
  }
  return;
}

/** Returns a body with backpressure. `Readable.toWeb` would read all of it into memory. */
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
            throw new GuardError("GUARD_UPSTREAM", "The response of the upstream is too large.");
          }
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          throw error instanceof GuardError
            ? error
            : new GuardError("GUARD_UPSTREAM", "The upstream broke off its response.", { cause: error });
        }
      },
      cancel: () => void reply.destroy(),
    },
    { highWaterMark: 0 },
  );
}
