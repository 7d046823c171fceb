import {
  isInitializedNotification,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
  SdkHttpError,
  type Transport,
} from "@modelcontextprotocol/client";
import { isRecord } from "../support/is-record.ts";
import type { Decision, McpGuard } from "./guard.ts";
import { blockedError, isModern, NO_ANSWER } from "./replies.ts";

/** The two sides of a proxy, and the guard between them. */
export interface ProxyOptions {
  client: Transport;
  server: Transport;
  guard: McpGuard;
  /** Called with a line for each problem. */
  log: (line: string) => void;
}

/** A request without a response. */
interface PendingRequest {
  request: JSONRPCRequest;
  /** Is aborted when nobody waits for the response any more. */
  abort: AbortController;
  /** Whether the request was forwarded and its response has not arrived. */
  isForwarded: boolean;
}

/** One of the two sides, with its pending requests. */
interface Peer {
  transport: Transport;
  pending: Map<RequestId, PendingRequest>;
}

/**
 * Forwards the messages of a session between a client and a server, after a {@link McpGuard} has checked them. Identifiers are kept, so
 * the rest of the protocol (progress, cancellation, subscriptions, unknown methods) works as without a proxy. Responses without a
 * pending request are dropped.
 */
export class McpProxy {
  readonly #client: Peer;
  readonly #server: Peer;
  readonly #guard: McpGuard;
  readonly #log: (line: string) => void;
  #resolveEnded: ((endedBy: "client" | "server" | "caller") => void) | undefined;
  /** Resolves when the session ends, with the side that ended it. */
  readonly ended: Promise<"client" | "server" | "caller">;

  constructor({ client, server, guard, log }: ProxyOptions) {
    this.#client = { transport: client, pending: new Map() };
    this.#server = { transport: server, pending: new Map() };
    this.#guard = guard;
    this.#log = log;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** @returns a promise that rejects if the server cannot be started. */
  async start(): Promise<void> {
    this.#listen(this.#client, this.#server, "client");
    this.#listen(this.#server, this.#client, "server");
    await this.#server.transport.start();
    await this.#client.transport.start();
  }

  /** Ends the session and both connections. */
  async close(endedBy: "client" | "server" | "caller" = "caller"): Promise<void> {
    const resolve = this.#resolveEnded;
    if (!resolve) return;
    this.#resolveEnded = undefined;
    if (endedBy === "server") {
      const responses = [...this.#client.pending.values()].map(({ request }) =>
        this.#send(this.#client, noAnswer(request, "The MCP server ended the session.")),
      );
      await Promise.all(responses);
    }
    for (const { pending } of [this.#client, this.#server]) for (const { abort } of pending.values()) abort.abort();
    await Promise.allSettled([this.#server.transport.close(), this.#client.transport.close()]);
    resolve(endedBy);
  }

  #listen(from: Peer, to: Peer, name: "client" | "server"): void {
    from.transport.onmessage = (message: JSONRPCMessage) => {
      void this.#receive(from, to, message).catch((error: unknown) =>
        this.#log(`lost a message: ${safeReason(error)}`),
      );
    };
    from.transport.onerror = (error) => this.#log(`connection to the ${name}: ${safeReason(error)}`);
    from.transport.onclose = () => void this.close(name);
  }

  async #receive(from: Peer, to: Peer, message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#request(from, to, message);
    if (isJSONRPCNotification(message)) return this.#notification(from, to, message);
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) return this.#response(from, to, message);
  }

  async #request(from: Peer, to: Peer, request: JSONRPCRequest): Promise<void> {
    const { pending } = from;
    if (pending.has(request.id)) {
      await this.#send(from, noAnswer(request, "A request with this id is already pending."));
      return;
    }
    const entry: PendingRequest = { request, abort: new AbortController(), isForwarded: false };
    pending.set(request.id, entry);
    const { signal } = entry.abort;
    let decision: Decision;
    try {
      decision = await (from === this.#client
        ? this.#guard.clientRequest(request, signal)
        : this.#guard.serverRequest(request, signal));
    } catch (error) {
      if (signal.aborted) return;
      this.#log(`could not check ${request.method}: ${safeReason(error)}`);
      decision = { answer: blockedError(request, "guard could not check this request, so it was not sent.") };
    }
    // A request that was cancelled during its check is not sent.
    if (signal.aborted) return;
    if ("answer" in decision) {
      pending.delete(request.id);
      await this.#send(from, decision.answer);
      return;
    }
    entry.isForwarded = true;
    const onNoAnswer = (reason: string) => {
      // A stream also ends after its response, which may still be in its check.
      if (pending.get(request.id) !== entry || !entry.isForwarded) return;
      pending.delete(request.id);
      void this.#send(from, noAnswer(request, reason));
    };
    try {
      await to.transport.send(decision.forward, {
        requestSignal: signal,
        onRequestStreamEnd: () => onNoAnswer("The MCP server closed the stream without a response."),
      });
    } catch (error) {
      if (!signal.aborted) onNoAnswer(`The MCP server could not be reached: ${safeReason(error)}.`);
    }
  }

  async #response(from: Peer, to: Peer, response: JSONRPCResponse): Promise<void> {
    const { pending } = to;
    const entry = response.id === undefined ? undefined : pending.get(response.id);
    if (!entry?.isForwarded) return;
    const { request, abort } = entry;
    // A second response to the same request is dropped.
    entry.isForwarded = false;
    let checked: JSONRPCResponse;
    try {
      checked = await (from === this.#server
        ? this.#guard.serverResponse(request, response, abort.signal)
        : this.#guard.clientResponse(request, response, abort.signal));
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#log(`could not check the response to ${request.method}: ${safeReason(error)}`);
      checked = blockedError(request, "guard could not check the response, so it is withheld.");
    }
    if (pending.get(request.id) !== entry) return;
    pending.delete(request.id);
    if (from === this.#server && request.method === "initialize" && "result" in checked) {
      const { protocolVersion } = checked.result;
      if (typeof protocolVersion === "string") from.transport.setProtocolVersion?.(protocolVersion);
    }
    await this.#send(to, checked);
  }

  async #notification(from: Peer, to: Peer, notification: JSONRPCNotification): Promise<void> {
    if (notification.method === "notifications/cancelled" && isRecord(notification.params)) {
      const id = notification.params.requestId as RequestId;
      const entry = from.pending.get(id);
      if (!entry) return;
      from.pending.delete(id);
      const { isForwarded, request } = entry;
      entry.abort.abort();
      // A request that was never forwarded needs no notification. Over HTTP, from the revision of 2026 on, closing the stream is enough.
      if (!isForwarded || (to.transport.hasPerRequestStream && isModern(request))) return;
    }
    if (isInitializedNotification(notification)) this.#log("the session started");
    await to.transport.send(notification);
  }

  async #send(to: Peer, message: JSONRPCMessage): Promise<void> {
    await to.transport.send(message).catch((error: unknown) => this.#log(`could not send: ${safeReason(error)}`));
  }
}

function noAnswer({ id }: JSONRPCRequest, message: string): JSONRPCResponse {
  return { jsonrpc: "2.0", id, error: { code: NO_ANSWER, message } };
}

/** Why something failed, without text of the other side: a response body might contain instructions for a model. */
function safeReason(error: unknown): string {
  if (error instanceof SdkHttpError) return `status ${error.status}`;
  if (!(error instanceof Error)) return "unknown error";
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall) return `${syscall} ${code}`;
  // This message of the SDK is safe and helps: it names the limit.
  if (/^ReadBuffer exceeded maximum size of \d+ bytes$/.test(error.message)) return "a message is too large";
  return error.name;
}
