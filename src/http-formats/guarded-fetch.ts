// The public surface of `guard-scan/fetch`.
import { GuardBlockedError } from "../guard/blocked-error.ts";
import type { CallOptions, Guard, GuardedCall } from "../guard/guard.ts";
import { toHttpFailure } from "../guard/http-failure.ts";
import { invalidRequest, toReplyError } from "./errors.ts";
import { checkAnswer, checkRequest } from "./exchange-check.ts";
import type { Format, Json, RequestParts } from "./format.ts";
import { openaiErrors } from "./formats/openai-errors.ts";
import { findFormat } from "./formats.ts";
import { framingOf, SSE_TYPE } from "./framing.ts";
import { guardEventStream } from "./guarded-stream.ts";
import { findLongNumbers, stringify } from "./long-numbers.ts";
import { type Body, type FetchRequest, parseFetchArguments, type RequestBody, readBody } from "./request.ts";
import { readRequestParts } from "./request-parts.ts";
import { parseObject, readFormTexts } from "./slots.ts";
import type { SseEvent } from "./sse.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";

/** The options of {@link guardedFetch}. */
export interface GuardedFetchOptions extends Pick<CallOptions, "suppress"> {
  /** Sends the requests. The default is the global `fetch`. */
  fetch?: typeof fetch;
  /**
   * What happens to a blocked call.
   *
   * - `"throw"`, the default: reading the reply rejects with the {@link GuardBlockedError}. The SDKs of OpenAI and Anthropic pass on such
   *   an error unchanged, without a retry.
   * - `"respond"`: the reply is an error in the format of the provider, with status 400 (OpenAI, Anthropic) or 403 (Google).
   * - a function: the reply is an answer with the text that the function returns. If answers have no text, as for embeddings, this is like
   *   `"throw"`.
   */
  onBlocked?: "throw" | "respond" | ((error: GuardBlockedError) => string | Promise<string>);
  /**
   * What happens to a request that guard cannot read, because its path has no known format or its text is given as token ids. With
   * `"refuse"`, the default, it is not sent. With `"pass"`, it is sent unchecked.
   */
  unguarded?: "refuse" | "pass";
  /**
   * Called with the size of what is held in memory of the answer, whenever it changes: the bytes of a whole answer, or the characters of a
   * stream that are held back. An error that it throws ends the call.
   */
  onBuffered?(size: number): void;
}

/**
 * Wraps `fetch` so that it guards calls of models. A request is checked before it is sent, and personal data in it is replaced by
 * placeholders. The answer is checked and restored before it is returned, even while it is streamed. docs/proxy.md lists the formats.
 *
 * Error replies of the provider are returned unchanged. If guard cannot check something, the call fails: with `onBlocked: "respond"` by a
 * reply with status 4xx or 5xx, and otherwise by an error when the reply is read.
 *
 * @param guard runs the checks, in this process or on a guard server.
 */
export function guardedFetch(guard: Guard, options: GuardedFetchOptions = {}): typeof fetch {
  return async (input, init) =>
    new Exchange(guard, options, parseFetchArguments(input as string | URL | Request, init)).run();
}

/** One request and its reply. */
class Exchange {
  readonly #guard: Guard;
  readonly #options: GuardedFetchOptions;
  readonly #request: FetchRequest;
  readonly #hasBody: boolean;
  readonly #format: Format | undefined;
  /** Aborts the checks and the request to the provider when the reply is not read any more. */
  readonly #controller = new AbortController();
  readonly #signal: AbortSignal;
  /** The parsed body of the request. */
  #json: Json = {};

  constructor(guard: Guard, options: GuardedFetchOptions, request: FetchRequest) {
    this.#guard = guard;
    this.#options = options;
    this.#request = request;
    const { method, body, url } = request;
    this.#hasBody = body !== undefined && method !== "GET" && method !== "HEAD";
    const isKnown = method === "POST" || method === "GET";
    this.#format = isKnown ? findFormat(url.pathname, this.#hasBody) : undefined;
    this.#signal = request.signal
      ? AbortSignal.any([request.signal, this.#controller.signal])
      : this.#controller.signal;
  }

  async run(): Promise<Response> {
    const { method, body, url } = this.#request;
    const { unguarded = "refuse", suppress } = this.#options;
    const format = this.#format;
    if (!format) {
      if (!this.#hasBody || unguarded === "pass") return this.#send(body);
      const message = `${method} ${url.pathname} is not known to guard, so its body cannot be checked; set unguarded to "pass" to send it unchecked`;
      return this.#fail(invalidRequest("url", message));
    }
    const call = this.#guard.call({ signal: this.#signal, ...(suppress && { suppress }) });
    if (!this.#hasBody) return this.#guardReply(format, call, await this.#send(body));
    let sent: Body;
    try {
      sent = await this.#checkRequest(format, call, unguarded);
    } catch (error) {
      return this.#fail(error);
    }
    return this.#guardReply(format, call, await this.#send(sent));
  }

  /** Checks the body of the request and returns the body to send. */
  async #checkRequest(format: Format, call: GuardedCall, unguarded: "refuse" | "pass"): Promise<Body> {
    const body = await readBody(this.#request, format);
    await checkRequest(call, this.#readParts(format, body, unguarded));
    if ("json" in body) {
      // Without a content type, fetch would declare the body as plain text.
      if (!this.#request.headers.has("content-type")) this.#request.headers.set("content-type", JSON_TYPE);
      return stringify(body.json, body.numbers);
    }
    // fetch sets the content type with the new boundary of the form.
    this.#request.headers.delete("content-type");
    return body.form;
  }

  #readParts(format: Format, body: RequestBody, unguarded: "refuse" | "pass"): RequestParts {
    if ("json" in body) {
      this.#json = body.json;
      return readRequestParts(format, body.json, { unguarded });
    }
    const { others, texts } = readFormTexts(body.form, format);
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
    // The length is that of the original body.
    if (body !== this.#request.body) headers.delete("content-length");
    return send(url.href, {
      ...init,
      method,
      headers,
      signal: this.#signal,
      ...(body !== undefined && { body, ...(body instanceof ReadableStream && { duplex: "half" }) }),
    } as RequestInit);
  }

  /** Guards a reply of the provider. Errors pass, because they can only quote the request as it was sent. */
  async #guardReply(format: Format, call: GuardedCall, reply: Response): Promise<Response> {
    if (!reply.ok || reply.body === null || !(format.readAnswer || format.guardStream)) return reply;
    const type = reply.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
    const isStream = type === SSE_TYPE || format.streamType?.(this.#request.url) !== undefined;
    if (isStream && format.guardStream) return this.#guardStream(format, call, reply, type);
    let json: Json | undefined;
    try {
      const text = await this.#readText(reply, reply.body);
      if (type === "application/json" || type.endsWith("+json") || !format.allowsPlainText) {
        json = parseObject(text);
        await checkAnswer(call, format.readAnswer?.(json) ?? []);
        return createReply(reply, stringify(json, findLongNumbers(text)));
      }
      const plain = { text };
      await checkAnswer(call, format.readAnswer?.(plain) ?? []);
      return createReply(reply, plain.text);
    } catch (error) {
      return this.#fail(error, reply, json);
    }
  }

  /** Reads a whole answer. Its size is known before the next piece is read. */
  async #readText(reply: Response, body: ReadableStream<Uint8Array>): Promise<string> {
    const { onBuffered } = this.#options;
    if (!onBuffered) return reply.text();
    const decoder = new TextDecoder();
    let size = 0;
    let text = "";
    for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
      size += bytes.length;
      onBuffered(size);
      text += decoder.decode(bytes, { stream: true });
    }
    return text + decoder.decode();
  }

  #guardStream(format: Format, call: GuardedCall, reply: Response, type: string): Response {
    // The caller checks that the format supports streams.
    const guard = (format.guardStream as NonNullable<Format["guardStream"]>)(call, this.#json);
    const onError = async (error: unknown): Promise<readonly SseEvent[]> => {
      const { onBlocked = "throw" } = this.#options;
      this.#controller.abort(error);
      if (this.#request.signal?.aborted) throw this.#request.signal.reason;
      if (typeof onBlocked === "function" && error instanceof GuardBlockedError) {
        return guard.replace(await onBlocked(error));
      }
      if (onBlocked !== "respond") throw error;
      return guard.fail(toReplyError(error, format.errors.blockedStatus));
    };
    const onCancel = (reason: unknown) => this.#controller.abort(reason);
    const { onBuffered } = this.#options;
    const options = { guard, framing: framingOf(type), onError, onCancel, onBuffered };
    return createReply(reply, guardEventStream(reply.body as ReadableStream<Uint8Array>, options));
  }

  /** Returns the reply to a call that was blocked or could not be checked. */
  async #fail(error: unknown, reply?: Response, answer?: Json): Promise<Response> {
    const { onBlocked = "throw" } = this.#options;
    const { signal } = this.#request;
    if (signal?.aborted) throw signal.reason;
    this.#controller.abort(error);
    const format = this.#format;
    if (typeof onBlocked === "function" && error instanceof GuardBlockedError && format?.blockedReply) {
      return this.#replace(format, await onBlocked(error), reply, answer);
    }
    if (onBlocked === "respond") {
      const { blockedStatus, body: createBody } = format?.errors ?? openaiErrors;
      const replyError = toReplyError(error, blockedStatus);
      const { status } = replyError;
      const body = JSON.stringify(createBody(replyError));
      const failed = createReply(reply, body, { status, type: JSON_TYPE });
      const retryAfter = toHttpFailure(error)?.retryAfter;
      if (retryAfter !== undefined) failed.headers.set("retry-after", String(retryAfter));
      return failed;
    }
    // SDKs wrap an error of fetch and retry the call. They do neither for an error of the body.
    const body = new ReadableStream({ start: (controller) => controller.error(error) });
    return createReply(reply, body, { type: this.#streamType ?? JSON_TYPE });
  }

  /** The content type of the answer if the request asks for a stream. */
  get #streamType(): string | undefined {
    const { streamType } = this.#format ?? {};
    if (streamType) return streamType(this.#request.url);
    return this.#json.stream === true ? SSE_TYPE : undefined;
  }

  /** Returns an answer with `text` instead of a blocked one. */
  #replace(format: Format, text: string, reply?: Response, answer?: Json): Response {
    const type = this.#streamType;
    if (type !== undefined && format.guardStream) {
      const events = format.guardStream(this.#guard.call(), this.#json).replace(text);
      const writer = framingOf(type).createWriter();
      return createReply(reply, new Blob([...events.map((event) => writer.write(event)), writer.end()]), { type });
    }
    return createReply(reply, JSON.stringify(format.blockedReply?.body(text, this.#json, answer)), { type: JSON_TYPE });
  }
}

const JSON_TYPE = "application/json";

/** Headers that describe the original body and not that of guard (RFC 9110, section 8; RFC 9112, section 6). */
const BODY_HEADERS = ["content-length", "content-encoding", "transfer-encoding", "content-md5", "digest", "etag"];

/** Returns a reply with a new body and the headers of another reply. */
function createReply(
  reply: Response | undefined,
  body: Body,
  { status = reply?.status ?? 200, type }: { status?: number; type?: string } = {},
): Response {
  const headers = new Headers(reply?.headers);
  for (const name of BODY_HEADERS) headers.delete(name);
  if (type !== undefined) headers.set("content-type", type);
  return new Response(body, { status, headers });
}
