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
import { blockedError, type Decision, type McpGuard } from "./guard.ts";
import { isModern, NO_ANSWER } from "./replies.ts";

/** What a proxy connects. */
export interface ProxyOptions {
  /** Where the client's messages come from. */
  client: Transport;
  /** Where they go. */
  server: Transport;
  guard: McpGuard;
  /** Is told in one line of what went wrong. */
  log: (line: string) => void;
}

/** A request that has no answer yet. */
interface Pending {
  request: JSONRPCRequest;
  /** Is aborted when nobody waits for the answer any more. */
  stop: AbortController;
  /** Whether the request has been sent on, and no answer has come yet. */
  isSent: boolean;
}

/** One of the two sides, and the requests that came from it. */
interface End {
  transport: Transport;
  pending: Map<RequestId, Pending>;
}

/**
 * Hands the messages of a session on between a client and a server, and lets a {@link McpGuard} judge them. Identifiers stay as they
 * are, so that everything else of the protocol (progress, cancellation, subscriptions, methods that guard does not know) works as
 * without it. An answer to nothing that was asked is dropped.
 */
export class McpProxy {
  readonly #client: End;
  readonly #server: End;
  readonly #guard: McpGuard;
  readonly #log: (line: string) => void;
  #end: ((endedBy: "client" | "server" | "caller") => void) | undefined;
  /** Resolves when the session has ended, with who has ended it. */
  readonly ended: Promise<"client" | "server" | "caller">;

  constructor({ client, server, guard, log }: ProxyOptions) {
    this.#client = { transport: client, pending: new Map() };
    this.#server = { transport: server, pending: new Map() };
    this.#guard = guard;
    this.#log = log;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** @returns rejected when the server cannot be started. */
  async start(): Promise<void> {
    this.#listen(this.#client, this.#server, "client");
    this.#listen(this.#server, this.#client, "server");
    await this.#server.transport.start();
    await this.#client.transport.start();
  }

  /** Ends the session and both connections. */
  async close(endedBy: "client" | "server" | "caller" = "caller"): Promise<void> {
    const end = this.#end;
    if (!end) return;
    this.#end = undefined;
    if (endedBy === "server") {
      const lost = [...this.#client.pending.values()].map(({ request }) =>
        this.#send(this.#client, failed(request, "The MCP server has ended.")),
      );
      await Promise.all(lost);
    }
    for (const { pending } of [this.#client, this.#server]) for (const { stop } of pending.values()) stop.abort();
    await Promise.allSettled([this.#server.transport.close(), this.#client.transport.close()]);
    end(endedBy);
  }

  #listen(from: End, to: End, name: "client" | "server"): void {
    from.transport.onmessage = (message: JSONRPCMessage) => {
      void this.#receive(from, to, message).catch((error: unknown) =>
        this.#log(`lost a message: ${plainReason(error)}`),
      );
    };
    from.transport.onerror = (error) => this.#log(`connection to the ${name}: ${plainReason(error)}`);
    from.transport.onclose = () => void this.close(name);
  }

  async #receive(from: End, to: End, message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#request(from, to, message);
    if (isJSONRPCNotification(message)) return this.#notification(from, to, message);
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) return this.#response(from, to, message);
  }

  async #request(from: End, to: End, request: JSONRPCRequest): Promise<void> {
    const { pending } = from;
    if (pending.has(request.id)) {
      await this.#send(from, failed(request, "Another request with this id has no answer yet."));
      return;
    }
    const entry: Pending = { request, stop: new AbortController(), isSent: false };
    pending.set(request.id, entry);
    const { signal } = entry.stop;
    let decision: Decision;
    try {
      decision = await (from === this.#client
        ? this.#guard.clientRequest(request, signal)
        : this.#guard.serverRequest(request, signal));
    } catch (error) {
      if (signal.aborted) return;
      this.#log(`could not check ${request.method}: ${plainReason(error)}`);
      decision = { answer: blockedError(request, "guard could not check this request, so it was not sent.") };
    }
    // A request that was taken back while it was judged is not sent at all.
    if (signal.aborted) return;
    if ("answer" in decision) {
      pending.delete(request.id);
      await this.#send(from, decision.answer);
      return;
    }
    entry.isSent = true;
    const answerIsLost = (reason: string) => {
      // Streams end behind their answers too, while these are judged.
      if (pending.get(request.id) !== entry || !entry.isSent) return;
      pending.delete(request.id);
      void this.#send(from, failed(request, reason));
    };
    try {
      await to.transport.send(decision.forward, {
        requestSignal: signal,
        onRequestStreamEnd: () => answerIsLost("The MCP server closed the stream without an answer."),
      });
    } catch (error) {
      if (!signal.aborted) answerIsLost(`The MCP server could not be reached: ${plainReason(error)}.`);
    }
  }

  async #response(from: End, to: End, response: JSONRPCResponse): Promise<void> {
    // The answer goes to the side that asked.
    const { pending } = to;
    const entry = response.id === undefined ? undefined : pending.get(response.id);
    if (!entry?.isSent) return;
    const { request, stop } = entry;
    // A second answer to the same request is one to nothing that was asked.
    entry.isSent = false;
    let judged: JSONRPCResponse;
    try {
      judged = await (from === this.#server
        ? this.#guard.serverResponse(request, response, stop.signal)
        : this.#guard.clientResponse(request, response, stop.signal));
    } catch (error) {
      if (stop.signal.aborted) return;
      this.#log(`could not check the answer to ${request.method}: ${plainReason(error)}`);
      judged = blockedError(request, "guard could not check the answer, so it is not shown.");
    }
    if (pending.get(request.id) !== entry) return;
    pending.delete(request.id);
    if (from === this.#server && request.method === "initialize" && "result" in judged) {
      const { protocolVersion } = judged.result;
      if (typeof protocolVersion === "string") from.transport.setProtocolVersion?.(protocolVersion);
    }
    await this.#send(to, judged);
  }

  async #notification(from: End, to: End, notification: JSONRPCNotification): Promise<void> {
    if (notification.method === "notifications/cancelled" && isRecord(notification.params)) {
      const id = notification.params.requestId as RequestId;
      const entry = from.pending.get(id);
      if (!entry) return;
      from.pending.delete(id);
      const { isSent, request } = entry;
      entry.stop.abort();
      // A request that was never sent needs no notification, and over HTTP the closed stream is one in the revisions from 2026 on.
      if (!isSent || (to.transport.hasPerRequestStream && isModern(request))) return;
    }
    if (isInitializedNotification(notification)) this.#log("the session has begun");
    await to.transport.send(notification);
  }

  async #send(to: End, message: JSONRPCMessage): Promise<void> {
    await to.transport.send(message).catch((error: unknown) => this.#log(`could not send: ${plainReason(error)}`));
  }
}

function failed({ id }: JSONRPCRequest, message: string): JSONRPCResponse {
  return { jsonrpc: "2.0", id, error: { code: NO_ANSWER, message } };
}

/** What went wrong, without what the other side has written: the body of a reply might hold orders for a model. */
function plainReason(error: unknown): string {
  if (error instanceof SdkHttpError) return `status ${error.status}`;
  if (!(error instanceof Error)) return "unknown error";
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall) return `${syscall} ${code}`;
  // The only message of the SDK that says what to do: which limit a message has broken.
  if (/^ReadBuffer exceeded maximum size of \d+ bytes$/.test(error.message)) return "a message is too large";
  return error.name;
}
