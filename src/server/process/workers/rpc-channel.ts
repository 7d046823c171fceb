import { type ErrorCode, GuardError, GuardValidationError, type ValidationIssue } from "../../../support/errors.ts";

/** Methods that the other process may call. Arguments and results are JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each method declares its own argument.
export type RpcMethods = Readonly<Record<string, (argument: any) => unknown>>;

/** A serialized error. */
interface RpcError {
  message: string;
  code?: ErrorCode;
  issues?: readonly ValidationIssue[];
  retryAfter?: number;
  cause?: string;
}

type Message =
  | { guard: "call"; id: number; name: string; argument: unknown }
  | { guard: "reply"; id: number; result?: unknown; error?: RpcError };

/** Remote procedure calls in both directions over the message channel of two processes. */
export class RpcChannel {
  readonly #send: (message: Message) => unknown;
  readonly #methods: RpcMethods;
  readonly #pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #lastId = 0;
  #ended: Error | undefined;

  /**
   * @param send sends a message. Pass messages of the other process to {@link receive}.
   * @param methods what the other process may call.
   */
  constructor(send: (message: Message) => unknown, methods: RpcMethods) {
    this.#send = send;
    this.#methods = methods;
  }

  /**
   * Calls a method of the other process.
   *
   * @throws the error of the method, or an Error if the other process has ended or does not reply in time.
   */
  async call<T>(name: string, argument: unknown = null, timeoutMs?: number): Promise<T> {
    if (this.#ended) throw this.#ended;
    const id = ++this.#lastId;
    let timer: NodeJS.Timeout | undefined;
    const reply = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      if (timeoutMs !== undefined) timer = setTimeout(() => reject(new Error("a process does not respond")), timeoutMs);
    });
    this.#send({ guard: "call", id, name, argument });
    try {
      return (await reply) as T;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** Handles a message of the other process. Messages of other kinds are ignored. */
  receive(message: unknown): void {
    const received = message as Message | undefined;
    if (received?.guard === "reply") {
      const pending = this.#pending.get(received.id);
      if (received.error) pending?.reject(deserializeError(received.error));
      else pending?.resolve(received.result);
    } else if (received?.guard === "call") void this.#answer(received);
  }

  /** Fails pending and future calls, because the other process has ended. */
  end(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
  }

  async #answer({ id, name, argument }: Message & { guard: "call" }): Promise<void> {
    let reply: Message;
    try {
      reply = { guard: "reply", id, result: await this.#methods[name]?.(argument) };
    } catch (error) {
      reply = { guard: "reply", id, error: serializeError(error) };
    }
    if (!this.#ended) this.#send(reply);
  }
}

function serializeError(error: unknown): RpcError {
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

function deserializeError({ message, code, issues, retryAfter, cause }: RpcError): Error {
  const options = cause === undefined ? {} : { cause: new Error(cause) };
  if (issues) return new GuardValidationError(issues, options);
  if (code) return new GuardError(code, message, { ...options, ...(retryAfter === undefined ? {} : { retryAfter }) });
  return new Error(message, options);
}
