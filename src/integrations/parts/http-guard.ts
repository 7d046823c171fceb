import { GuardBlockedError, throwIfBlocked } from "../../guard/blocked-error.ts";
import type { Guard, GuardedCall } from "../../guard/guard.ts";
import { toHttpFailure } from "../../guard/http-failure.ts";
import { guardTextStream, isTextStream } from "../../guard/text-stream.ts";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";

/** The checks of the requests and answers of a route. `Request` is the type of the framework. */
export interface RouteGuardOptions<Request = unknown> {
  /**
   * The value that is checked before the handler runs: its path in the request (`body`, `body.messages`), or a function that returns it.
   * The value is a text, a list of texts, a list of messages, or an object with `messages` and optional `tools` and `system`. By default
   * nothing is checked.
   */
  input?: string | ((request: Request) => unknown);
  /** Replaces the value that `input` returned with the sanitized value. Required if `input` is a function. */
  replace?: (request: Request, sanitized: unknown) => void;
  /** The path of the text in an answer that is an object, such as `reply.text`. */
  output?: string;
  /**
   * Returns the reply to a blocked request, and the replacement of a blocked answer. Default: 400 and a problem (RFC 9457) with the failing
   * checks. If part of the answer was already sent, a text in `body` is appended; otherwise the connection is closed.
   */
  onBlocked?: (error: GuardBlockedError, request: Request) => BlockedReply | Promise<BlockedReply>;
  /** The scanners to skip, by their types or by their names in results. */
  suppress?: readonly string[];
}

/** The options of guard in a web framework. */
export interface HttpGuardOptions<Request = unknown> extends RouteGuardOptions<Request> {
  guard: Guard;
}

/** The reply to a blocked request or in place of a blocked answer. */
export interface BlockedReply {
  /** Default: 400. */
  status?: number;
  headers?: Record<string, string>;
  /** A text, or a value that is sent as JSON. */
  body: unknown;
}

/** An error of guard with the status and headers that Fastify and Express read. */
export class GuardHttpError extends GuardError {
  readonly statusCode: number;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(error: GuardError) {
    const { status, message, retryAfter } = toHttpFailure(error) ?? {
      status: 500,
      message: "Something went wrong here.",
    };
    // The original error is not set as the cause: its message may quote a text, and frameworks log causes.
    super(error.code, message);
    this.statusCode = status;
    this.status = status;
    this.headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  }
}

/** Converts an error of guard for a framework. Other errors are returned as they are. */
export function httpError(error: unknown): unknown {
  return error instanceof GuardError && !(error instanceof GuardBlockedError) ? new GuardHttpError(error) : error;
}

/**
 * Validates options when routes are created, before the first request.
 *
 * @throws GuardValidationError with the path of each invalid option.
 */
export function checkRouteOptions(options: RouteGuardOptions<never>): void {
  const { input, replace, output } = options;
  const issues: { path: string; message: string }[] = [];
  if (typeof input === "string" && !/^body(\.[^.]+)*$/.test(input)) {
    issues.push({ path: "input", message: "expected body, a path such as body.messages, or a function" });
  }
  if (typeof input === "function" && !replace) {
    issues.push({
      path: "replace",
      message: "required if input is a function; without it the handler would get the unsanitized value",
    });
  }
  if (output !== undefined && !/^[^.]+(\.[^.]+)*$/.test(output)) {
    issues.push({ path: "output", message: "expected a path such as reply.text" });
  }
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/**
 * Checks the input of a request, and replaces it with the sanitized value.
 *
 * @throws GuardBlockedError if a check fails.
 * @throws GuardError if the input cannot be checked, with the path of the invalid value.
 */
export async function checkInput<Request extends { body?: unknown }>(
  call: GuardedCall,
  request: Request,
  { input, replace }: RouteGuardOptions<Request>,
): Promise<void> {
  if (input === undefined) return;
  if (typeof input === "function") {
    replace?.(request, await checkValue(call, await input(request), "input"));
    return;
  }
  const [, ...keys] = input.split(".");
  request.body = withValueAt(request.body, keys, await checkValue(call, valueAt(request.body, keys), input));
}

async function checkValue(call: GuardedCall, value: unknown, path: string): Promise<unknown> {
  if (typeof value === "string") return (await checkTexts(call, [value]))[0];
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")) {
    return checkTexts(call, value);
  }
  if (Array.isArray(value)) {
    const { messages } = await checkChat(call, { messages: value }, (place) => path + place.slice("messages".length));
    return messages;
  }
  if (isRecord(value) && "messages" in value) {
    const { messages, tools, system } = value as unknown as ChatRequest;
    const chat = { messages, ...("tools" in value ? { tools } : {}), ...("system" in value ? { system } : {}) };
    return { ...value, ...(await checkChat(call, chat, (place) => `${path}.${place}`)) };
  }
  const message = "expected a text, a list of texts, a list of messages, or an object with messages";
  throw new GuardValidationError([{ path, message }]);
}

async function checkTexts(call: GuardedCall, given: readonly string[]): Promise<string[]> {
  const { report, texts } = await call.texts(given);
  throwIfBlocked("request", report);
  return texts;
}

/** @param toRequestPath converts the path of a value of the chat to its path in the request. */
async function checkChat(
  call: GuardedCall,
  chat: ChatRequest,
  toRequestPath: (path: string) => string,
): Promise<ChatRequest> {
  try {
    const { report, request } = await call.request(chat);
    throwIfBlocked("request", report);
    return request;
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    throw new GuardValidationError(error.issues.map(({ path, message }) => ({ path: toRequestPath(path), message })));
  }
}

/** A checked answer: a value, or a stream of text. */
export type CheckedAnswer = { value: unknown } | { pieces: AsyncIterable<string> };

/**
 * Checks an answer: a text, an object with a text at the path `output`, or a stream of text. The promise waits for the first text that
 * can be released, so that an answer that is blocked before can still get another status.
 *
 * @param endOf returns the text that is appended to an answer that is blocked after its start; undefined for none.
 * @throws GuardBlockedError if a check fails.
 * @throws GuardError if the answer cannot be checked.
 */
export async function checkAnswer(
  call: GuardedCall,
  answer: unknown,
  {
    output,
    signal,
    endOf,
  }: { output?: string | undefined; signal: AbortSignal; endOf(error: GuardBlockedError): Promise<string | undefined> },
): Promise<CheckedAnswer> {
  if (isTextStream(answer)) {
    const pieces = guardTextStream(call.answerStream(), answer, signal);
    const first = await pieces.next();
    return { pieces: first.done ? emptyText() : withEnd(first.value, pieces, endOf) };
  }
  if (typeof answer === "string") return { value: await checkAnswerText(call, answer) };
  const keys = output?.split(".") ?? [];
  const text = valueAt(answer, keys);
  if (output === undefined || typeof text !== "string") {
    const message = "expected the path of a text in the answer; other answers are texts or streams of text";
    throw new GuardValidationError([{ path: "output", message }]);
  }
  return { value: withValueAt(answer, keys, await checkAnswerText(call, text)) };
}

async function checkAnswerText(call: GuardedCall, answer: string): Promise<string> {
  const { report, text } = await call.answer({ text: answer });
  throwIfBlocked("answer", report);
  return text;
}

async function* emptyText(): AsyncGenerator<string> {}

async function* withEnd(
  first: string,
  rest: AsyncGenerator<string>,
  endOf: (error: GuardBlockedError) => Promise<string | undefined>,
): AsyncGenerator<string> {
  try {
    yield first;
    yield* rest;
  } catch (error) {
    const end = error instanceof GuardBlockedError ? await endOf(error) : undefined;
    if (end === undefined) throw httpError(error);
    yield end;
  } finally {
    // Otherwise the rest would stay open if the reader stops after the first piece.
    await rest.return(undefined);
  }
}

/** The reply to a blocked text: that of the user, or a problem (RFC 9457) with the failing checks. */
export async function blockedReply<Request>(
  error: GuardBlockedError,
  request: Request,
  { onBlocked }: RouteGuardOptions<Request>,
): Promise<Required<BlockedReply>> {
  if (onBlocked) return { status: 400, headers: {}, ...(await onBlocked(error, request)) };
  return {
    status: 400,
    headers: { "content-type": "application/problem+json" },
    body: { type: "about:blank", title: "Bad Request", status: 400, detail: error.message },
  };
}

/** The text of the user's reply that is appended to a started answer. */
export async function endText<Request>(
  error: GuardBlockedError,
  request: Request,
  { onBlocked }: RouteGuardOptions<Request>,
): Promise<string | undefined> {
  const { body } = (await onBlocked?.(error, request)) ?? {};
  return typeof body === "string" ? body : undefined;
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== "object" || found === null) return;
    found = Object.hasOwn(found, key) ? (found as Record<string, unknown>)[key] : undefined;
  }
  return found;
}

/** Replaces a value in a copy. Only the objects on its path are copied. */
function withValueAt<T>(value: T, [key, ...rest]: readonly string[], replacement: unknown): T {
  if (key === undefined) return replacement as T;
  const inner = withValueAt((value as Record<string, unknown>)[key], rest, replacement);
  if (Array.isArray(value)) return value.with(Number(key), inner) as T;
  return { ...value, [key]: inner };
}
