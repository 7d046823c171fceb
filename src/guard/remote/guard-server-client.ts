import type { z } from "zod";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { awaitUnlessAborted } from "../../support/promises.ts";
import type { ResolvedRemoteOptions } from "./remote-options.ts";
import { problemError, unreachableError } from "./server-errors.ts";

/** The media type of JSON lines. */
const NDJSON = "application/x-ndjson";

/** Error codes of connections that broke during a request: those of Node.js and of its `fetch`. */
const CONNECTION_ERRORS = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Sends requests to a guard server and reads its replies. An invalid reply is an error, never a pass. */
export class GuardServerClient {
  readonly #options: ResolvedRemoteOptions;
  /** Aborts all requests when the guard is closed. */
  readonly #closed = new AbortController();

  constructor(options: ResolvedRemoteOptions) {
    this.#options = options;
    // Every request adds a listener. By default, Node.js warns from the eleventh on. Browsers neither warn nor have this module.
    globalThis.process?.getBuiltinModule?.("node:events").setMaxListeners(0, this.#closed.signal);
  }

  /** Aborts all requests and refuses new ones. */
  close(): void {
    this.#closed.abort(new GuardError("GUARD_CLOSED", "The guard is closed."));
  }

  /**
   * Sends JSON and parses the JSON reply.
   *
   * @param path the path of a route, without a leading slash.
   * @param schema the schema of the reply.
   * @throws GuardError `GUARD_UNREACHABLE` without a valid reply, or the error in the reply.
   */
  async post<Reply extends z.ZodType>(
    path: string,
    body: Record<string, unknown>,
    schema: Reply,
    signal: AbortSignal | undefined,
  ): Promise<z.output<Reply>> {
    const init: RequestInit = {
      body: stringify(body),
      headers: { "content-type": "application/json", accept: "application/json" },
    };
    return this.#withTimeout(signal, async (running, until) => {
      const response = await this.#send(path, () => init, running, until);
      return parseReply(schema, await awaitUnlessAborted(readJson(response), running));
    });
  }

  /**
   * Opens a full-duplex request: body and reply are JSON lines that are sent at the same time.
   *
   * @param first the first line of the body.
   * @throws GuardError as {@link post} does.
   */
  async open(path: string, first: Record<string, unknown>, signal: AbortSignal | undefined): Promise<StreamingRequest> {
    const line = encodeLine(first);
    const { signal: running, stop } = followAny([this.#closed.signal, signal]);
    const cut = new AbortController();
    const onAbort = () => cut.abort(running.reason);
    running.addEventListener("abort", onAbort, { once: true });
    if (running.aborted) onAbort();
    let body: WritableStreamDefaultWriter<Uint8Array> | undefined;
    const init = (): RequestInit => {
      // A retry needs a new body.
      body?.abort().catch(() => {});
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      body = writable.getWriter();
      body.closed.catch(() => {});
      body.write(line).catch(() => {});
      const headers = { "content-type": NDJSON, accept: NDJSON };
      // Node's fetch supports full duplex, although the only value of `duplex` is called half.
      return { body: readable, headers, duplex: "half" } as RequestInit;
    };
    try {
      const response = await this.#withTimeout(cut.signal, (opening, until) =>
        this.#send(path, init, opening, until, cut.signal),
      );
      if (mediaType(response) !== NDJSON || !response.body)
        throw unreachableError("sent an invalid reply: its content type");
      return new StreamingRequest(body as WritableStreamDefaultWriter<Uint8Array>, response.body, cut, stop);
    } catch (error) {
      stop();
      cut.abort();
      body?.abort().catch(() => {});
      throw error;
    }
  }

  /** Limits the time of a check, and aborts it with the guard and with the caller's signal. */
  async #withTimeout<Result>(
    caller: AbortSignal | undefined,
    check: (signal: AbortSignal, until: number) => Promise<Result>,
  ): Promise<Result> {
    const { timeout } = this.#options;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(this.timeoutError()), timeout);
    const { signal, stop } = followAny([limit.signal, this.#closed.signal, caller]);
    try {
      return await check(signal, performance.now() + timeout);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }

  /** The maximum duration of a step in milliseconds. */
  get timeout(): number {
    return this.#options.timeout;
  }

  /** Creates the error of a server that took longer. */
  timeoutError(): GuardError {
    return unreachableError(`did not answer within ${this.timeout / 1000} s`);
  }

  /**
   * Sends a request with retries, and returns the response if it is a success.
   *
   * @param signal aborts the wait for the response.
   * @param until when the last retry may start, in milliseconds of `performance.now()`.
   * @param life aborts the request itself. It may outlive the wait.
   */
  async #send(
    path: string,
    init: () => RequestInit,
    signal: AbortSignal,
    until: number,
    life: AbortSignal = signal,
  ): Promise<Response> {
    const { url, headers, fetch, retries } = this.#options;
    for (let retriesLeft = retries; ; retriesLeft--) {
      signal.throwIfAborted();
      const { headers: types, ...given } = init();
      let response: Response;
      try {
        response = await awaitUnlessAborted(
          fetch(new URL(path, url), {
            method: "POST",
            headers: { ...headers, ...(types as Record<string, string>) },
            ...given,
            signal: life,
            // A guard server never redirects, and texts must not reach another server.
            redirect: "manual",
          }),
          signal,
        );
      } catch (error) {
        const code = findErrorCode(error);
        // The server may close a kept-alive connection just when it is reused. A scan has no side effects, so it may run twice.
        if (retriesLeft > 0 && CONNECTION_ERRORS.has(code) && !signal.aborted) continue;
        throw unreachableError(`could not be reached: ${code}`, error);
      }
      if (response.status === 200) return response;
      const wait = readRetryAfter(response);
      if (retriesLeft > 0 && wait !== undefined && performance.now() + wait * 1000 < until) {
        await response.body?.cancel();
        await awaitUnlessAborted(new Promise((resolve) => setTimeout(resolve, wait * 1000)), signal);
        continue;
      }
      throw await readError(response, signal);
    }
  }
}

/** An open full-duplex request with JSON lines. */
export class StreamingRequest {
  readonly #body: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reply: ReadableStream<Uint8Array>;
  readonly #cut: AbortController;
  readonly #stop: () => void;

  constructor(
    body: WritableStreamDefaultWriter<Uint8Array>,
    reply: ReadableStream<Uint8Array>,
    cut: AbortController,
    stop: () => void,
  ) {
    this.#body = body;
    this.#reply = reply;
    this.#cut = cut;
    this.#stop = stop;
  }

  /** Aborts when the connection is cut, with the error for the caller. */
  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  /** Sends a line. It resolves when the connection accepts more. */
  async write(line: Record<string, unknown>): Promise<void> {
    this.#body.write(encodeLine(line)).catch(() => {});
    // An error of the body also ends the reply, whose error has more details.
    await this.#body.ready.catch(() => {});
  }

  /** Ends the body. */
  end(): void {
    this.#body.close().catch(() => {});
  }

  /** Cuts the connection if the reply has not ended, and releases the signals. */
  close(reason?: GuardError): void {
    this.#stop();
    this.#cut.abort(reason);
  }

  /**
   * Yields the lines of the reply.
   *
   * @throws GuardError `GUARD_UNREACHABLE` if the reply is interrupted or not JSON.
   */
  async *lines(): AsyncGenerator<unknown> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let open = "";
    try {
      for await (const bytes of this.#reply as unknown as AsyncIterable<Uint8Array>) {
        const lines = (open + decoder.decode(bytes, { stream: true })).split("\n");
        open = lines.pop() ?? "";
        for (const line of lines) if (line.trim() !== "") yield parseJson(line);
      }
    } catch (error) {
      if (this.#cut.signal.aborted) throw this.#cut.signal.reason;
      throw error instanceof GuardError
        ? error
        : unreachableError(`broke off its reply: ${findErrorCode(error)}`, error);
    }
    if (open.trim() !== "") yield parseJson(open);
  }
}

/** Validates a reply. Its error names only the field, because values may be texts. */
export function parseReply<Reply extends z.ZodType>(schema: Reply, value: unknown): z.output<Reply> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const field = error.issues.map(({ path }) => path.slice(0, 1).join("")).find((key) => key !== "") ?? "its whole body";
  throw unreachableError(`sent an invalid reply: ${field}`);
}

/** Reads the error in a reply. */
export async function readError(response: Response, signal: AbortSignal): Promise<GuardError> {
  const isProblem = mediaType(response) === "application/problem+json";
  const body = isProblem ? await awaitUnlessAborted(readJson(response), signal).catch(() => undefined) : undefined;
  if (!isProblem) await response.body?.cancel().catch(() => {});
  return problemError(response.status, body);
}

function stringify(body: Record<string, unknown>): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new GuardValidationError([{ path: "", message: "cannot be written as JSON" }], { cause: error });
  }
}

async function readJson(response: Response): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw unreachableError(`broke off its reply: ${findErrorCode(error)}`, error);
  }
  return parseJson(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser would quote the text.
    throw unreachableError("sent a reply that is not JSON");
  }
}

function encodeLine(line: Record<string, unknown>): Uint8Array {
  return new TextEncoder().encode(`${stringify(line)}\n`);
}

/** Returns the media type of a reply without parameters. */
export function mediaType({ headers }: Response): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Returns the seconds to wait before a retry, or undefined if the server does not ask for one. */
function readRetryAfter({ status, headers }: Response): number | undefined {
  if (status !== 503 && status !== 429) return undefined;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
  // The jitter spreads the retries of callers that were refused together.
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds) + Math.random() / 4;
}

/** Finds the code of a failed request, which Node.js puts into a nested cause. */
export function findErrorCode(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string") return code;
  }
  return error instanceof Error ? error.name : "unknown error";
}

/** Returns a signal that aborts with the first of the given ones. `stop` removes its listeners, because some signals live long. */
export function followAny(signals: readonly (AbortSignal | undefined)[]): { signal: AbortSignal; stop: () => void } {
  const own = new AbortController();
  const given = signals.filter((signal) => signal !== undefined);
  const listeners = given.map((signal) => {
    const onAbort = () => own.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return onAbort;
  });
  const stop = () => {
    for (const [index, signal] of given.entries()) signal.removeEventListener("abort", listeners[index] as () => void);
  };
  return { signal: own.signal, stop };
}
