import { setMaxListeners } from "node:events";
import type { z } from "zod";
import { GuardError, GuardValidationError } from "../../errors.ts";
import { withSignal } from "../../support/with-signal.ts";
import { problemError, unreachable } from "./errors.ts";
import type { CheckedRemoteOptions } from "./options.ts";

/** Codes of connections that ended while they were used: Node.js's own, and that of its `fetch`. */
const CUT = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Sends requests to a guard server, and reads its replies. A reply that cannot be read is an error, never a pass. */
export class GuardServer {
  readonly #options: CheckedRemoteOptions;
  /** Ends what is under way when the guard is closed. */
  readonly #closed = new AbortController();

  constructor(options: CheckedRemoteOptions) {
    this.#options = options;
    // Every request under way listens to it. Node.js would warn of a leak from eleven listeners on.
    setMaxListeners(0, this.#closed.signal);
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
    const text = json(body);
    const { timeout } = this.#options;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(unreachable(`did not answer within ${timeout / 1000} s`)), timeout);
    const until = performance.now() + timeout;
    const { signal: running, stop } = anyOf([limit.signal, this.#closed.signal, signal]);
    try {
      const response = await this.#send(path, text, running, until);
      return readReply(schema, await withSignal(jsonOf(response), running));
    } catch (error) {
      throw running.aborted ? running.reason : error;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }

  /** Sends a request until it is answered, and returns the answer when it is a success. */
  async #send(path: string, body: string, signal: AbortSignal, until: number): Promise<Response> {
    const { url, headers, fetch, retries } = this.#options;
    for (let triesLeft = retries; ; triesLeft--) {
      signal.throwIfAborted();
      let response: Response;
      try {
        response = await withSignal(
          fetch(new URL(path, url), {
            method: "POST",
            headers: { ...headers, "content-type": "application/json", accept: "application/json" },
            body,
            signal,
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
        await withSignal(new Promise((resolve) => setTimeout(resolve, wait * 1000)), signal);
        continue;
      }
      throw await errorOf(response, signal);
    }
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
  const body = isProblem ? await withSignal(jsonOf(response), signal).catch(() => undefined) : undefined;
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
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error quotes the text.
    throw unreachable("sent a reply that is not JSON");
  }
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
