import type { z } from "zod";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { awaitUnlessAborted } from "../../support/promises.ts";
import { problemError, unreachable } from "./errors.ts";
import type { CheckedRemoteOptions } from "./options.ts";

/** The type of bodies that are lines of JSON. */
const LINES = "application/x-ndjson";

/** Codes of connections that ended while they were used: Node.js's own, and that of its `fetch`. */
const CUT = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Sends requests to a guard server, and reads its replies. A reply that cannot be read is an error, never a pass. */
export class GuardServer {
  readonly #options: CheckedRemoteOptions;
  /** Ends what is under way when the guard is closed. */
  readonly #closed = new AbortController();

  constructor(options: CheckedRemoteOptions) {
    this.#options = options;
    // Every request under way adds a listener. Node.js warns of a leak from the eleventh on; browsers neither warn nor have this module.
    globalThis.process?.getBuiltinModule?.("node:events").setMaxListeners(0, this.#closed.signal);
  }

  /** Ends all requests under way, and refuses new ones. */
  close(): void {
    this.#closed.abort(new GuardError("GUARD_CLOSED", "The guard is closed."));
  }

  /**
   * Sends JSON and reads the JSON of the reply.
   *
   * @param path the path of a route, without a slash before it.
   * @param schema what the reply has to be.
   * @throws GuardError `GUARD_UNREACHABLE` when there is no reply or one that makes no sense, or the error that the reply stands for.
   */
  async post<Reply extends z.ZodType>(
    path: string,
    body: Record<string, unknown>,
    schema: Reply,
    signal: AbortSignal | undefined,
  ): Promise<z.output<Reply>> {
    const init: RequestInit = {
      body: json(body),
      headers: { "content-type": "application/json", accept: "application/json" },
    };
    return this.#inTime(signal, async (running, until) => {
      const response = await this.#send(path, () => init, running, until);
      return readReply(schema, await awaitUnlessAborted(jsonOf(response), running));
    });
  }

  /**
   * Opens a request whose body goes on while its reply comes, both in lines of JSON.
   *
   * @param first the first line of the body.
   * @throws GuardError as {@link post} does.
   */
  async open(path: string, first: Record<string, unknown>, signal: AbortSignal | undefined): Promise<OpenRequest> {
    const line = encoded(first);
    const { signal: running, stop } = anyOf([this.#closed.signal, signal]);
    const cut = new AbortController();
    const onAbort = () => cut.abort(running.reason);
    running.addEventListener("abort", onAbort, { once: true });
    if (running.aborted) onAbort();
    let body: WritableStreamDefaultWriter<Uint8Array> | undefined;
    const init = (): RequestInit => {
      // A try that is not the first one has a new body.
      body?.abort().catch(() => {});
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      body = writable.getWriter();
      body.closed.catch(() => {});
      body.write(line).catch(() => {});
      const headers = { "content-type": LINES, accept: LINES };
      // Node's fetch hands out the reply while the body goes on, although its one value for `duplex` is called half.
      return { body: readable, headers, duplex: "half" } as RequestInit;
    };
    try {
      const response = await this.#inTime(cut.signal, (opening, until) =>
        this.#send(path, init, opening, until, cut.signal),
      );
      if (mediaType(response) !== LINES || !response.body)
        throw unreachable("sent a reply that makes no sense: its type");
      return new OpenRequest(body as WritableStreamDefaultWriter<Uint8Array>, response.body, cut, stop);
    } catch (error) {
      stop();
      cut.abort();
      body?.abort().catch(() => {});
      throw error;
    }
  }

  /** Limits the time of a check, and ends it with the guard and with the signal of its caller. */
  async #inTime<Result>(
    caller: AbortSignal | undefined,
    check: (signal: AbortSignal, until: number) => Promise<Result>,
  ): Promise<Result> {
    const { timeout } = this.#options;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(this.late()), timeout);
    const { signal, stop } = anyOf([limit.signal, this.#closed.signal, caller]);
    try {
      return await check(signal, performance.now() + timeout);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }

  /** The most milliseconds that the server may take for a step. */
  get timeout(): number {
    return this.#options.timeout;
  }

  /** The error of a server that took longer. */
  late(): GuardError {
    return unreachable(`did not answer within ${this.timeout / 1000} s`);
  }

  /**
   * Sends a request until it is answered, and returns the answer when it is a success.
   *
   * @param signal ends the waiting for an answer.
   * @param life ends the request itself. It may outlive the waiting.
   */
  async #send(
    path: string,
    init: () => RequestInit,
    signal: AbortSignal,
    until: number,
    life: AbortSignal = signal,
  ): Promise<Response> {
    const { url, headers, fetch, retries } = this.#options;
    for (let triesLeft = retries; ; triesLeft--) {
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
            // A guard server never redirects, and texts must not go to another one.
            redirect: "manual",
          }),
          signal,
        );
      } catch (error) {
        const code = codeOf(error);
        // A connection that was kept open may be closed just when it is used again. A scan changes nothing, so it may run twice.
        if (triesLeft > 0 && CUT.has(code) && !signal.aborted) continue;
        throw unreachable(`could not be reached: ${code}`, error);
      }
      if (response.status === 200) return response;
      const wait = secondsToWait(response);
      if (triesLeft > 0 && wait !== undefined && performance.now() + wait * 1000 < until) {
        await response.body?.cancel();
        await awaitUnlessAborted(new Promise((resolve) => setTimeout(resolve, wait * 1000)), signal);
        continue;
      }
      throw await errorOf(response, signal);
    }
  }
}

/** A request that is open: lines go out, and lines come in. */
export class OpenRequest {
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

  /** Is aborted when the request is cut, with what its caller is told. */
  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  /** Sends a line. It resolves when the connection takes more. */
  async write(line: Record<string, unknown>): Promise<void> {
    this.#body.write(encoded(line)).catch(() => {});
    // What goes wrong with the body ends the reply too, which tells more.
    await this.#body.ready.catch(() => {});
  }

  /** Ends the body. */
  end(): void {
    this.#body.close().catch(() => {});
  }

  /** Cuts the connection when the reply has not ended, and lets go of the signals. */
  close(reason?: GuardError): void {
    this.#stop();
    this.#cut.abort(reason);
  }

  /**
   * The lines of the reply as they come.
   *
   * @throws GuardError `GUARD_UNREACHABLE` when the reply breaks off, or is no JSON.
   */
  async *lines(): AsyncGenerator<unknown> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let open = "";
    try {
      for await (const bytes of this.#reply as unknown as AsyncIterable<Uint8Array>) {
        const lines = (open + decoder.decode(bytes, { stream: true })).split("\n");
        open = lines.pop() ?? "";
        for (const line of lines) if (line.trim() !== "") yield parsed(line);
      }
    } catch (error) {
      if (this.#cut.signal.aborted) throw this.#cut.signal.reason;
      throw error instanceof GuardError ? error : unreachable(`broke off its reply: ${codeOf(error)}`, error);
    }
    if (open.trim() !== "") yield parsed(open);
  }
}

/** Checks a reply. What is wrong with it is said by its path: its values may be texts. */
export function readReply<Reply extends z.ZodType>(schema: Reply, value: unknown): z.output<Reply> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const at = error.issues.map(({ path }) => path.slice(0, 1).join("")).find((key) => key !== "") ?? "the whole of it";
  throw unreachable(`sent a reply that makes no sense: ${at}`);
}

/** The error that a reply stands for. */
export async function errorOf(response: Response, signal: AbortSignal): Promise<GuardError> {
  const isProblem = mediaType(response) === "application/problem+json";
  const body = isProblem ? await awaitUnlessAborted(jsonOf(response), signal).catch(() => undefined) : undefined;
  if (!isProblem) await response.body?.cancel().catch(() => {});
  return problemError(response.status, body);
}

function json(body: Record<string, unknown>): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new GuardValidationError([{ path: "", message: "cannot be written as JSON" }], { cause: error });
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw unreachable(`broke off its reply: ${codeOf(error)}`, error);
  }
  return parsed(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error quotes the text.
    throw unreachable("sent a reply that is not JSON");
  }
}

function encoded(line: Record<string, unknown>): Uint8Array {
  return new TextEncoder().encode(`${json(line)}\n`);
}

/** The type of a reply's body, without parameters. */
export function mediaType({ headers }: Response): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The seconds after which a refused request may be sent again; undefined when the server does not say so. */
function secondsToWait({ status, headers }: Response): number | undefined {
  if (status !== 503 && status !== 429) return undefined;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
  // Callers that were refused together should not come back together.
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds) + Math.random() / 4;
}

/** What a failed request says of its cause, which stands in the cause of Node's own error. */
export function codeOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string") return code;
  }
  return error instanceof Error ? error.name : "unknown error";
}

/** A signal that is aborted with the first of others. `stop` lets go of them: some of them live long. */
export function anyOf(signals: readonly (AbortSignal | undefined)[]): { signal: AbortSignal; stop: () => void } {
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
