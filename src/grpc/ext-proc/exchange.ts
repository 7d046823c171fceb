import type { Guard } from "../../guard/guard.ts";
import { MonitoringGuard } from "../../guard/monitoring-guard.ts";
import { upstreamError } from "../../http-formats/errors.ts";
import { guardedFetch } from "../../http-formats/guarded-fetch.ts";
import type { BudgetShare } from "../../http-server/byte-budget.ts";
import { Problem } from "../../http-server/problem.ts";
import { type CallPlan, planCall } from "../../proxy/call-plan.ts";
import type { CallRecord } from "../../proxy/call-record.ts";
import { errorReply, unknownFormat } from "../../proxy/errors.ts";
import { ACCEPTED_ENCODING, answerFault, encodeBody, WITHOUT_BODY } from "../../proxy/upstream-client.ts";
import { findTarget, type Upstream } from "../../proxy/upstreams.ts";
import { GuardError } from "../../support/errors.ts";
import { deferred } from "../../support/promises.ts";
import { type Struct, toStruct } from "../struct.ts";
import { headerChanges, readHeaders } from "./header-maps.ts";
import {
  BODY_MODES,
  type BodyMode,
  type HttpBody,
  type HttpHeaders,
  headerMutation,
  type ProcessingRequest,
  SKIP,
} from "./messages.ts";
import { PushedBody } from "./pushed-body.ts";
import { immediateReply, Replies, type Send } from "./replies.ts";

/** What the exchanges of a server share. */
export interface ExchangeOptions {
  guard: Guard;
  /** Paths that pass unchecked, as of the proxy. */
  pass: readonly string[];
  maxBodySize: number;
  maxAnswerSize: number;
}

/** What belongs to one exchange. */
export interface ExchangeContext {
  record: CallRecord;
  /** The name of the credential that Envoy has presented. */
  credential: string | undefined;
  /** Sends a message to Envoy. */
  send: Send;
  /** Opens the shares of memory for the request and the answer of a caller. */
  openShares(caller: string): { request: BudgetShare; answer: BudgetShare };
  /** Returns the caller of a request. */
  callerOf(headers: Headers, attributes: Record<string, Struct> | undefined): string;
  /** Called with an error that is neither the client's nor the upstream's. */
  onFailure(error: unknown): void;
}

/** All paths, because Envoy chooses the upstream. */
const ANY_UPSTREAM: readonly Upstream[] = [{ prefix: "", base: "http://upstream" }];

/** The name of guard in dynamic metadata. */
const NAMESPACE = "guard";

/** A request that is checked. */
interface GuardedRequest {
  url: URL;
  method: string;
  headers: Headers;
  /** The path, if Envoy would forward another spelling of it. */
  path: string | undefined;
}

/** Checks one HTTP request and its response, whose parts arrive as messages of Envoy. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #context: ExchangeContext;
  readonly #controller = new AbortController();
  /** Whether Envoy only shows the messages, and takes no answers. */
  #observes = false;
  #plan: CallPlan | undefined;
  #request: GuardedRequest | undefined;
  #requestReplies: Replies | undefined;
  #responseReplies: Replies | undefined;
  #shares: ReturnType<ExchangeContext["openShares"]> | undefined;
  readonly #requestChunks: Buffer[] = [];
  #requestSize = 0;
  #requestTrailers = false;
  /** Settles when the request is checked and sent, and its response is checked and sent. */
  #run: Promise<void> | undefined;
  /** Whether the checked request was sent. */
  #isSent = false;
  readonly #upstream = deferred<Response>();
  readonly #answer = new PushedBody();
  #answerSize = 0;
  #answerHeaders: Headers | undefined;
  #answerTrailers = false;
  /** Checked text of the answer that waits for the next message of Envoy. */
  #released: Uint8Array[] = [];
  #isSinglePart = false;
  #isWhole = false;
  #isEnded = false;
  readonly #ended = deferred();
  #cut: string | undefined;
  #status: number | undefined;

  constructor(options: ExchangeOptions, context: ExchangeContext) {
    this.#options = options;
    this.#context = context;
  }

  /** The name of the API format, or what happens to the call. It is undefined before the headers have arrived. */
  get call(): string | undefined {
    return this.#plan?.kind === "guarded" ? this.#plan.format.name : this.#plan?.kind;
  }

  /** The status of the response. It is undefined before one has arrived. */
  get status(): number | undefined {
    return this.#status;
  }

  get isGuarded(): boolean {
    return this.#plan?.kind === "guarded";
  }

  get observes(): boolean {
    return this.#observes;
  }

  /** Who ended the call before its response was complete. */
  get cut(): string | undefined {
    return this.#cut;
  }

  /** Whether nothing is left to do. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Resolves when nothing is left to do. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Takes the next message, and waits while guard is busy with earlier ones. */
  async take(message: ProcessingRequest): Promise<void> {
    if (this.#isEnded) return;
    try {
      await this.#dispatch(message);
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Ends the exchange when no more messages arrive. Checks of an observed answer that has arrived as a whole run to their end. */
  async inputEnded(): Promise<void> {
    if (this.#observes && this.#isWhole) await this.#run;
    else if (!this.#isEnded) {
      const isRequestOnly = this.#isSent && !this.#answerHeaders;
      if (this.isGuarded && !isRequestOnly) this.#cut = "by Envoy";
      this.#abort(new GuardError("GUARD_ABORTED", "Envoy ended the call."));
    }
  }

  /** Ends the exchange, and stops its checks. */
  #abort(reason: Error): void {
    this.#isEnded = true;
    this.#ended.resolve();
    this.#controller.abort(reason);
    this.#upstream.reject(reason);
    this.#answer.fail(reason);
    this.#shares?.request.release();
    this.#shares?.answer.release();
  }

  /** Ends the call with an error in the format of its API. */
  async fail(error: unknown): Promise<void> {
    if (this.#isEnded) return;
    const format = this.#plan?.kind === "guarded" ? this.#plan.format.errors : unknownFormat(this.#headerNames());
    const reply = errorReply(error, format);
    if (!this.#observes) this.#status = reply.status;
    if (reply.status === 500) this.#context.onFailure(error);
    const sent = this.#send(immediateReply(reply, this.#metadata()));
    this.#abort(error instanceof Error ? error : new Error("The call failed."));
    await sent;
  }

  async #dispatch(message: ProcessingRequest): Promise<void> {
    if (!this.#requestReplies) this.#start(message);
    const { requestHeaders, requestBody, requestTrailers, responseHeaders, responseBody, responseTrailers } = message;
    if (requestHeaders) return this.#takeRequestHeaders(requestHeaders, message);
    if (!this.#plan)
      throw new Problem(500, "Envoy sends no request headers to guard: set request_header_mode to SEND.");
    if (this.#plan.kind === "passed") return this.#passOn(message);
    if (requestBody) return this.#takeRequestBody(requestBody);
    if (requestTrailers) return this.#takeRequestTrailers();
    if (!this.#isSent && !this.#observes)
      throw upstreamError("The upstream responded before guard had checked the request.");
    if (responseHeaders) return this.#takeResponseHeaders(responseHeaders);
    if (responseBody) return this.#takeResponseBody(responseBody);
    if (responseTrailers) return this.#takeResponseTrailers();
  }

  /** Reads what the first message says about all others. */
  #start({ observabilityMode = false, protocolConfig }: ProcessingRequest): void {
    this.#observes = observabilityMode;
    const { requestBodyMode = 0, responseBodyMode = 0 } = protocolConfig ?? {};
    const modeOf = (index: number): BodyMode | undefined => (protocolConfig ? BODY_MODES[index] : undefined);
    this.#requestReplies = new Replies("request", modeOf(requestBodyMode), this.#send);
    this.#responseReplies = new Replies("response", modeOf(responseBodyMode), this.#send);
  }

  readonly #send: Send = async (reply) => {
    if (!this.#observes && !this.#isEnded) await this.#context.send(reply);
  };

  #headerNames(): object {
    return Object.fromEntries(this.#request?.headers ?? []);
  }

  /** The verdict so far, for the access log and for filters behind this one. */
  #metadata(): Struct | undefined {
    const { content: _, ...verdict } = this.#context.record.fields;
    return verdict.outcome === undefined ? undefined : toStruct({ [NAMESPACE]: verdict });
  }

  get #requests(): Replies {
    return this.#requestReplies as Replies;
  }

  get #responses(): Replies {
    return this.#responseReplies as Replies;
  }

  async #takeRequestHeaders(message: HttpHeaders, { attributes }: ProcessingRequest): Promise<void> {
    const { pseudo, headers } = readHeaders(message.headers?.headers);
    const { endOfStream = false } = message;
    const original = pseudo.get(":path") ?? "";
    const method = pseudo.get(":method") ?? "";
    const target = findTarget(ANY_UPSTREAM, original);
    const path = target && target.url.pathname + target.url.search;
    this.#request = {
      url: target?.url ?? new URL("http://upstream"),
      method,
      headers,
      path: path === original ? undefined : path,
    };
    const plan = target
      ? planCall({ method, hasBody: !endOfStream }, target, this.#options.pass)
      : ({ kind: "refused", status: 404, message: "guard cannot read this path." } as const);
    this.#plan = plan;
    if (plan.kind === "refused") {
      throw new Problem(plan.status, plan.message);
    }
    const modeOverride = { responseHeaderMode: SKIP, requestBodyMode: 0, responseBodyMode: 0 };
    if (plan.kind === "passed") return this.#requests.headers(this.#firstChanges(), { modeOverride });
    this.#shares = this.#context.openShares(this.#context.callerOf(headers, attributes));
    if (endOfStream) return this.#check(undefined);
    if (this.#requests.mode === "NONE") {
      throw new Problem(500, "Envoy sends no request bodies to guard: set request_body_mode to FULL_DUPLEX_STREAMED.");
    }
    if (!this.#requests.isDuplex) await this.#requests.headers(this.#firstChanges());
  }

  /** The changes of the request that do not depend on its body. */
  #firstChanges() {
    const { path } = this.#request as GuardedRequest;
    const guarded = this.#plan?.kind === "guarded" ? { "accept-encoding": ACCEPTED_ENCODING } : {};
    return headerMutation({ ...guarded, ...(path === undefined ? {} : { ":path": path }) });
  }

  async #takeRequestBody({ body = Buffer.alloc(0), endOfStream = false }: HttpBody): Promise<void> {
    if (this.#run) return;
    this.#requestSize += body.length;
    const { maxBodySize } = this.#options;
    if (this.#requestSize > maxBodySize) {
      throw new Problem(413, `The body has more than ${maxBodySize} bytes (--max-body).`);
    }
    this.#shares?.request.add(body.length);
    this.#requestChunks.push(body);
    const { mode, isDuplex } = this.#requests;
    if (mode === "BUFFERED_PARTIAL" && !endOfStream) {
      throw new Problem(413, "Envoy has sent a part of the body only: its buffer limit is too small.");
    }
    if (endOfStream || mode === "BUFFERED") this.#check(this.#requestChunks);
    else if (!isDuplex) await this.#requests.part(new Uint8Array());
  }

  async #takeRequestTrailers(): Promise<void> {
    if (this.#run) return this.#requests.trailers();
    if (!this.#requests.isDuplex && !this.#observes) {
      throw new Problem(400, "guard reads requests with trailers in the body mode FULL_DUPLEX_STREAMED only.");
    }
    this.#requestTrailers = true;
    this.#check(this.#requestChunks);
  }

  /** Begins the checks of a request that has arrived as a whole. */
  #check(chunks: readonly Buffer[] | undefined): void {
    this.#run = this.#runChecks(chunks && Buffer.concat(chunks)).catch((error) => this.fail(error));
    this.#requestChunks.length = 0;
  }

  async #runChecks(body: Buffer<ArrayBuffer> | undefined): Promise<void> {
    const { url, method, headers } = this.#request as GuardedRequest;
    const { guard } = this.#options;
    const { record, credential } = this.#context;
    const guardedSend = guardedFetch(record.observe(this.#observes ? new MonitoringGuard(guard) : guard, credential), {
      fetch: this.#forward,
      onBlocked: "respond",
      onBuffered: (size) => this.#shares?.answer.resize(size),
    });
    const { signal } = this.#controller;
    const response = await guardedSend(url, { method, headers, ...(body ? { body } : {}), signal });
    if (response.status !== this.#status) {
      this.#status = response.status;
      const reply = { status: response.status, headers: Object.fromEntries(response.headers) };
      await this.#send(immediateReply({ ...reply, body: await response.text() }, this.#metadata()));
      return this.#abort(new Error("The call was answered by guard."));
    }
    await this.#sendAnswer(response);
    this.#abort(new Error("The call has ended."));
  }

  /** Lets Envoy send the checked request, and returns its response. */
  readonly #forward: typeof fetch = async (_url, init = {}) => {
    const { headers: original } = this.#request as GuardedRequest;
    const headers = new Headers(init.headers);
    const body = await encodeBody(init.body, headers);
    await this.#sendRequest(original, headers, body);
    this.#isSent = true;
    this.#shares?.request.release();
    return this.#upstream.promise;
  };

  async #sendRequest(original: Headers, headers: Headers, body: Buffer | undefined): Promise<void> {
    const { mode, isDuplex } = this.#requests;
    const changes = headerChanges(original, headers, ["content-length"]);
    const first = this.#firstChanges();
    const metadata = this.#metadata();
    const more = metadata ? { dynamicMetadata: metadata } : {};
    changes.setHeaders.push(...first.setHeaders);
    if (body === undefined) return this.#requests.headers(changes, more);
    if (isDuplex) {
      await this.#requests.headers(changes, more);
      await this.#requests.chunk(body);
      return this.#requests.end(this.#requestTrailers);
    }
    if (mode === "STREAMED" && changes.setHeaders.length > first.setHeaders.length && !this.#observes) {
      throw new Problem(500, "guard needs the body mode BUFFERED or FULL_DUPLEX_STREAMED for forms.");
    }
    changes.setHeaders.push(...headerMutation({ "content-length": String(body.length) }).setHeaders);
    return this.#requests.part(body, changes, metadata);
  }

  async #takeResponseHeaders(message: HttpHeaders): Promise<void> {
    const { pseudo, headers } = readHeaders(message.headers?.headers);
    const status = Number(pseudo.get(":status"));
    const location = headers.get("location") ?? undefined;
    const fault = answerFault(status, { location, encoding: headers.get("content-encoding") ?? undefined });
    if (fault !== undefined) throw upstreamError(fault);
    if (!(status >= 200 && status < 600)) throw upstreamError("The response has a status that HTTP does not have.");
    this.#status = status;
    this.#answerHeaders = headers;
    const { endOfStream = false } = message;
    if (this.#responses.mode === "NONE" && !endOfStream) return this.#skipAnswer();
    const isEmpty = endOfStream || WITHOUT_BODY.has(status);
    const response = new Response(isEmpty ? null : this.#answer.stream, { status, headers });
    if (isEmpty) this.#isWhole = true;
    else if (!this.#responses.isDuplex) await this.#responses.headers(undefined, modeFor(headers));
    this.#upstream.resolve(response);
  }

  /** Ends an exchange whose answer Envoy does not send to guard. */
  async #skipAnswer(): Promise<void> {
    await this.#responses.headers();
    this.#abort(new Error("The answer is not checked."));
  }

  async #takeResponseBody({ body = Buffer.alloc(0), endOfStream = false }: HttpBody): Promise<void> {
    if (!this.#answerHeaders) throw upstreamError("Envoy sends no response headers to guard.");
    const { mode, isDuplex } = this.#responses;
    if (mode === "BUFFERED_PARTIAL" && !endOfStream) {
      throw upstreamError("Envoy has sent a part of the answer only: its buffer limit is too small.");
    }
    this.#isSinglePart = this.#answerSize === 0;
    this.#answerSize += body.length;
    if (this.#answerSize > this.#options.maxAnswerSize)
      throw upstreamError("The response of the upstream is too large.");
    const isLast = endOfStream || (mode === "BUFFERED" && !isStream(this.#answerHeaders));
    if (isLast) this.#isWhole = true;
    await this.#answer.push(body);
    if (isLast) this.#answer.close();
    else if (!isDuplex) {
      await this.#answer.wanted;
      await this.#responses.part(this.#takeReleased());
    }
  }

  async #takeResponseTrailers(): Promise<void> {
    if (this.#isWhole) return this.#responses.trailers();
    this.#answerTrailers = true;
    this.#isWhole = true;
    this.#answer.close();
  }

  /** Sends a checked answer. */
  async #sendAnswer(response: Response): Promise<void> {
    const received = this.#answerHeaders as Headers;
    const { isDuplex } = this.#responses;
    const changes = headerChanges(received, response.headers, ["content-length"]);
    if (response.body === null) return this.#responses.headers(changes);
    if (isDuplex) await this.#responses.headers(changes);
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      if (isDuplex) await this.#responses.chunk(bytes);
      else this.#released.push(bytes);
    }
    if (isDuplex) return this.#responses.end(this.#answerTrailers, this.#metadata());
    const rest = this.#takeReleased();
    if (this.#answerTrailers) {
      if (rest.length > 0)
        throw upstreamError("guard reads answers with trailers in the body mode FULL_DUPLEX_STREAMED only.");
      return this.#responses.trailers(this.#metadata());
    }
    if (this.#isSinglePart) {
      changes.setHeaders.push(...headerMutation({ "content-length": String(rest.length) }).setHeaders);
    }
    return this.#responses.part(rest, changes, this.#metadata());
  }

  #takeReleased(): Buffer {
    return Buffer.concat(this.#released.splice(0));
  }

  /** Answers a message about a call that is not checked. */
  async #passOn(message: ProcessingRequest): Promise<void> {
    const { requestBody, requestTrailers, responseHeaders, responseBody } = message;
    const replies = requestBody || requestTrailers ? this.#requests : this.#responses;
    const body = requestBody ?? responseBody;
    if (responseHeaders) return replies.headers();
    if (body) return replies.pass(body.body ?? new Uint8Array(), body.endOfStream ?? false);
    return replies.trailers();
  }
}

function isStream(headers: Headers): boolean {
  return (headers.get("content-type") ?? "").startsWith("text/event-stream");
}

/** The body mode that suits an answer. Envoy uses it if `allow_mode_override` is set: streams are shown as they arrive. */
function modeFor(headers: Headers) {
  const mode: BodyMode = isStream(headers) ? "STREAMED" : "BUFFERED";
  return { modeOverride: { responseBodyMode: BODY_MODES.indexOf(mode) } };
}
