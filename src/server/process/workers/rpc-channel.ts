import { type ErrorCode, GuardError, GuardValidationError, type ValidationIssue } from "../../../support/errors.ts";

/** What is called from another process. Arguments and results are JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each function knows its own argument.
export type Functions = Readonly<Record<string, (argument: any) => unknown>>;

/** An error on its way to another process. */
interface SentError {
  message: string;
  code?: ErrorCode;
  issues?: readonly ValidationIssue[];
  retryAfter?: number;
  cause?: string;
}

type Message =
  | { guard: "call"; id: number; name: string; argument: unknown }
  | { guard: "reply"; id: number; result?: unknown; error?: SentError };

/** Calls functions in the process at the other end of a channel, and lets that process call functions here. */
export class Calls {
  readonly #send: (message: Message) => unknown;
  readonly #functions: Functions;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #last = 0;
  #ended: Error | undefined;

  /**
   * @param send sends a message. What comes from there is handed to {@link take}.
   * @param functions what the other process may call.
   */
  constructor(send: (message: Message) => unknown, functions: Functions) {
    this.#send = send;
    this.#functions = functions;
  }

  /**
   * Calls a function.
   *
   * @param timeout the milliseconds after which the call fails.
   * @throws what the function throws; an Error when the other process has ended or does not answer in time.
   */
  async call<T>(name: string, argument: unknown = null, timeout?: number): Promise<T> {
    if (this.#ended) throw this.#ended;
    const id = ++this.#last;
    let timer: NodeJS.Timeout | undefined;
    const replied = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (timeout !== undefined) timer = setTimeout(() => reject(new Error("a process does not answer")), timeout);
    });
    this.#send({ guard: "call", id, name, argument });
    try {
      return (await replied) as T;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Takes what came from the other process. What is no message of this kind is left alone. */
  take(message: unknown): void {
    const taken = message as Message | undefined;
    if (taken?.guard === "reply") {
      const waiting = this.#waiting.get(taken.id);
      if (taken.error) waiting?.reject(received(taken.error));
      else waiting?.resolve(taken.result);
    } else if (taken?.guard === "call") void this.#answer(taken);
  }

  /** The other process has ended: nobody answers any more. */
  end(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#waiting.values()) reject(error);
  }

  async #answer({ id, name, argument }: Message & { guard: "call" }): Promise<void> {
    let reply: Message;
    try {
      reply = { guard: "reply", id, result: await this.#functions[name]?.(argument) };
    } catch (error) {
      reply = { guard: "reply", id, error: sent(error) };
    }
    if (!this.#ended) this.#send(reply);
  }
}

function sent(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, cause } = error;
  return {
    message,
    ...(error instanceof GuardError ? { code: error.code } : {}),
    ...(error instanceof GuardError && error.retryAfter !== undefined ? { retryAfter: error.retryAfter } : {}),
    ...(error instanceof GuardValidationError ? { issues: error.issues } : {}),
    ...(cause instanceof Error ? { cause: cause.message } : {}),
  };
}

function received({ message, code, issues, retryAfter, cause }: SentError): Error {
  const options = cause === undefined ? {} : { cause: new Error(cause) };
  if (issues) return new GuardValidationError(issues, options);
  if (code) return new GuardError(code, message, { ...options, ...(retryAfter === undefined ? {} : { retryAfter }) });
  return new Error(message, options);
}
