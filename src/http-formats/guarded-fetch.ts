// The public surface of `guard-scan/fetch`.
import { GuardBlockedError } from "../guard/blocked.ts";
import type { CallOptions, Guard, GuardedCall } from "../guard/guard.ts";
import { unreadable, wireError } from "./errors.ts";
import type { Format, Json, RequestParts } from "./format.ts";
import { openaiErrors } from "./formats/openai-errors.ts";
import { formatOf } from "./formats.ts";
import { guardedStream } from "./guarded-stream.ts";
import { judgeAnswer, judgeRequest } from "./judge.ts";
import { longNumbers, stringified } from "./long-numbers.ts";
import { type Body, readArguments, readBody, type WireBody, type WireRequest } from "./request.ts";
import { formTexts, parsedObject, unknownTexts } from "./slots.ts";
import { type SseEvent, sseBytes } from "./sse.ts";

export { type Blocked, GuardBlockedError } from "../guard/blocked.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";

/** How calls of models are guarded on their way. */
export interface GuardedFetchOptions extends Pick<CallOptions, "suppress"> {
  /** What sends the requests on. The default is the global `fetch`. */
  fetch?: typeof fetch;
  /**
   * What becomes of a call that a check has stopped.
   *
   * - `"throw"`, the default: reading the reply rejects with the {@link GuardBlockedError}. The SDKs of OpenAI and Anthropic hand on such
   *   an error as it is, and do not try again.
   * - `"respond"`: the reply is an error of the provider's form, with status 400.
   * - a function: the reply is an answer that says what the function returns. Where answers have no text, as with embeddings, it is as with
   *   `"throw"`.
   */
  onBlocked?: "throw" | "respond" | ((error: GuardBlockedError) => string | Promise<string>);
  /**
   * What becomes of a request that guard cannot read: one to a path that is of no known format, or whose text is given as the numbers of
   * tokens. With `"refuse"`, the default, it is not sent. With `"pass"` it is sent although nobody has looked at it.
   */
  unguarded?: "refuse" | "pass";
}

/**
 * Wraps `fetch`, so that calls of models are guarded: a request is judged before it is sent, personal data in it goes out as placeholders,
 * and the answer is judged and restored before it is returned, also while it arrives as a stream. docs/proxy.md lists the formats.
 *
 * Replies that are errors of the provider are returned as they are. When guard cannot check something, the call fails; with `onBlocked:
 * "respond"` as a reply with a status of 4xx or 5xx, and otherwise by an error when the reply is read.
 *
 * @param guard what judges: scanners of this process, or a server of guard.
 */
export function guardedFetch(guard: Guard, options: GuardedFetchOptions = {}): typeof fetch {
  return async (input, init) =>
    new Exchange(guard, options, readArguments(input as string | URL | Request, init)).run();
}

/** One request, and the reply to it. */
class Exchange {
  readonly #guard: Guard;
  readonly #options: GuardedFetchOptions;
  readonly #request: WireRequest;
  readonly #hasBody: boolean;
  readonly #format: Format | undefined;
  /** Ends the checks, and the request to the provider, when nobody reads the reply any more. */
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  /** The body of the request, once it has been read. */
  #json: Json = {};

  constructor(guard: Guard, options: GuardedFetchOptions, request: WireRequest) {
    this.#guard = guard;
    this.#options = options;
    this.#request = request;
    const { method, body, url } = request;
    this.#hasBody = body !== undefined && method !== "GET" && method !== "HEAD";
    const isKnown = method === "POST" || method === "GET";
    this.#format = isKnown ? formatOf(url.pathname, this.#hasBody) : undefined;
    this.#signal = request.signal ? AbortSignal.any([request.signal, this.#stop.signal]) : this.#stop.signal;
  }

  async run(): Promise<Response> {
    const { method, body, url } = this.#request;
    const { unguarded = "refuse", suppress } = this.#options;
    const format = this.#format;
    if (!format) {
      if (!this.#hasBody || unguarded === "pass") return this.#send(body);
      const message = `${method} ${url.pathname} is not known to guard, so its body cannot be checked; set unguarded to "pass" to send it unchecked`;
      return this.#failed(unreadable("url", message));
    }
    const call = this.#guard.call({ signal: this.#signal, ...(suppress && { suppress }) });
    if (!this.#hasBody) return this.#answered(format, call, await this.#send(body));
    let sent: Body;
    try {
      sent = await this.#judged(format, call, unguarded);
    } catch (error) {
      return this.#failed(error);
    }
    return this.#answered(format, call, await this.#send(sent));
  }

  /** Judges the body of the request, and returns the body that may be sent. */
  async #judged(format: Format, call: GuardedCall, unguarded: "refuse" | "pass"): Promise<Body> {
    const body = await readBody(this.#request, format);
    await judgeRequest(call, this.#parts(format, body, unguarded));
    if ("json" in body) {
      // Without a type, fetch would say that it is plain text.
      if (!this.#request.headers.has("content-type")) this.#request.headers.set("content-type", JSON_TYPE);
      return stringified(body.json, body.numbers);
    }
    // The form gets another boundary.
    this.#request.headers.delete("content-type");
    return body.form;
  }

  #parts(format: Format, body: WireBody, unguarded: "refuse" | "pass"): RequestParts {
    if ("json" in body) {
      this.#json = body.json;
      const { texts = [], ...parts } = format.request?.(body.json, { unguarded }) ?? {};
      const others = unknownTexts(body.json, format.fields ?? new Set());
      return { ...parts, texts: [{ source: "user", slots: others }, ...texts] };
    }
    const { others, texts } = formTexts(body.form, format);
    return {
      texts: [
        { source: "user", slots: others },
        { source: "user", slots: texts },
      ],
    };
  }

  async #send(body: Body | undefined): Promise<Response> {
    const { fetch: send = fetch } = this.#options;
    const { url, method, headers, init } = this.#request;
    // It belongs to the body as it was.
    if (body !== this.#request.body) headers.delete("content-length");
    return send(url.href, {
      ...init,
      method,
      headers,
      signal: this.#signal,
      ...(body !== undefined && { body, ...(body instanceof ReadableStream && { duplex: "half" }) }),
    } as RequestInit);
  }

  /** Guards a reply of the provider. Errors pass: they quote the request at most, as it was sent. */
  async #answered(format: Format, call: GuardedCall, reply: Response): Promise<Response> {
    if (!reply.ok || reply.body === null || !(format.answer || format.stream)) return reply;
    const type = reply.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
    if (type === "text/event-stream" && format.stream) return this.#streamed(format, call, reply, reply.body);
    let json: Json | undefined;
    try {
      const text = await reply.text();
      if (type === "application/json" || type.endsWith("+json") || !format.plainText) {
        json = parsedObject(text);
        await judgeAnswer(call, format.answer?.(json) ?? []);
        return replyLike(reply, stringified(json, longNumbers(text)));
      }
      const plain = { text };
      await judgeAnswer(call, format.answer?.(plain) ?? []);
      return replyLike(reply, plain.text);
    } catch (error) {
      return this.#failed(error, reply, json);
    }
  }

  #streamed(format: Format, call: GuardedCall, reply: Response, body: ReadableStream<Uint8Array>): Response {
    // The caller has checked that the format has streams.
    const guard = (format.stream as NonNullable<Format["stream"]>)(call, this.#json);
    const onError = async (error: unknown): Promise<readonly SseEvent[]> => {
      const { onBlocked = "throw" } = this.#options;
      this.#stop.abort(error);
      if (this.#request.signal?.aborted) throw this.#request.signal.reason;
      if (typeof onBlocked === "function" && error instanceof GuardBlockedError) {
        return guard.replace(await onBlocked(error));
      }
      if (onBlocked !== "respond") throw error;
      return guard.fail(wireError(error));
    };
    const onCancel = (reason: unknown) => this.#stop.abort(reason);
    return replyLike(reply, guardedStream(body, { guard, onError, onCancel }));
  }

  /** The reply to a call that was stopped, or that guard could not check. */
  async #failed(error: unknown, reply?: Response, answer?: Json): Promise<Response> {
    const { onBlocked = "throw" } = this.#options;
    const { signal } = this.#request;
    if (signal?.aborted) throw signal.reason;
    this.#stop.abort(error);
    const format = this.#format;
    if (typeof onBlocked === "function" && error instanceof GuardBlockedError && format?.blocked) {
      return this.#instead(format, await onBlocked(error), reply, answer);
    }
    if (onBlocked === "respond") {
      const told = wireError(error);
      const { status } = told;
      return replyLike(reply, JSON.stringify((format?.errors ?? openaiErrors).body(told)), { status, type: JSON_TYPE });
    }
    // An error of fetch itself would be wrapped, and the call tried again. One of the body is not.
    const isStream = this.#json.stream === true;
    const body = new ReadableStream({ start: (controller) => controller.error(error) });
    return replyLike(reply, body, { type: isStream ? SSE_TYPE : JSON_TYPE });
  }

  /** An answer that says `text` in the place of one that must not be shown. */
  #instead(format: Format, text: string, reply?: Response, answer?: Json): Response {
    if (this.#json.stream === true && format.stream) {
      const events = format.stream(this.#guard.call(), this.#json).replace(text);
      return replyLike(reply, new Blob(events.map(sseBytes)), { type: SSE_TYPE });
    }
    return replyLike(reply, JSON.stringify(format.blocked?.body(text, this.#json, answer)), { type: JSON_TYPE });
  }
}

const JSON_TYPE = "application/json";
const SSE_TYPE = "text/event-stream";

/** Headers that belong to the body as it was, not to the one that guard makes (RFC 9110, section 8; RFC 9112, section 6). */
const OF_BODY = ["content-length", "content-encoding", "transfer-encoding", "content-md5", "digest", "etag"];

/** A reply with the headers of another one, and another body. */
function replyLike(
  reply: Response | undefined,
  body: Body,
  { status = reply?.status ?? 200, type }: { status?: number; type?: string } = {},
): Response {
  const headers = new Headers(reply?.headers);
  for (const name of OF_BODY) headers.delete(name);
  if (type !== undefined) headers.set("content-type", type);
  return new Response(body, { status, headers });
}
