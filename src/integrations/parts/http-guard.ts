import { GuardBlockedError, throwIfBlocked } from "../../guard/blocked-error.ts";
import type { Guard, GuardedCall } from "../../guard/guard.ts";
import { toHttpFailure } from "../../guard/http-failure.ts";
import { guardTextStream, isTextStream } from "../../guard/text-stream.ts";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";

/** What is judged of the requests and answers of a route. `Request` is the framework's. */
export interface RouteGuardOptions<Request = unknown> {
  /**
   * What is judged before the handler runs: the path of a value of the body, with points (`body`, `body.messages`), or a function
   * that returns it. The value is a text, a list of texts, a list of messages, or an object with `messages` and perhaps `tools` and
   * `system`. By default nothing is.
   */
  input?: string | ((request: Request) => unknown);
  /** Puts the judged value in the place of what `input` returned. It is required when `input` is a function. */
  replace?: (request: Request, sanitized: unknown) => void;
  /** Where the text stands in an answer that is an object, with points: `reply.text`. */
  output?: string;
  /**
   * The answer to a request that is blocked, or in the place of an answer that is. By default 400 and a problem (RFC 9457) that names
   * the failing checks. Of an answer that has begun to go out, a `body` that is a text becomes the end; without it the connection is cut.
   */
  onBlocked?: (error: GuardBlockedError, request: Request) => BlockedReply | Promise<BlockedReply>;
  /** The scanners to leave out, by their types or by their names in results. */
  suppress?: readonly string[];
}

/** How guard is put into a web framework. */
export interface HttpGuardOptions<Request = unknown> extends RouteGuardOptions<Request> {
  guard: Guard;
}

/** An answer in the place of one that was blocked. */
export interface BlockedReply {
  /** Default: 400. */
  status?: number;
  headers?: Record<string, string>;
  /** A text, or what becomes JSON. */
  body: unknown;
}

/** An error of guard as web frameworks understand it: Fastify and Express take the status and the headers from it. */
export class GuardHttpError extends GuardError {
  readonly statusCode: number;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(error: GuardError) {
    const { status, message, retryAfter } = toHttpFailure(error) ?? {
      status: 500,
      message: "Something went wrong here.",
    };
    // What was thrown is no cause of this error: a scanner's message may quote a text, and frameworks log causes.
    super(error.code, message);
    this.statusCode = status;
    this.status = status;
    this.headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  }
}

/** What a framework should throw for an error. */
export function httpError(error: unknown): unknown {
  return error instanceof GuardError && !(error instanceof GuardBlockedError) ? new GuardHttpError(error) : error;
}

/**
 * Checks options, so that a mistake shows when routes are made and not with the first request.
 *
 * @throws GuardValidationError with the path of the option at fault.
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
      message: "is required when input is a function: else the handler gets what was not sanitized",
    });
  }
  if (output !== undefined && !/^[^.]+(\.[^.]+)*$/.test(output)) {
    issues.push({ path: "output", message: "expected a path such as reply.text" });
  }
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/**
 * Judges the input of a request, and puts what may go on in its place.
 *
 * @throws GuardBlockedError when a check failed.
 * @throws GuardError when the input cannot be judged, with the path of the value at fault.
 */
export async function judgeInput<Request extends { body?: unknown }>(
  call: GuardedCall,
  request: Request,
  { input, replace }: RouteGuardOptions<Request>,
): Promise<void> {
  if (input === undefined) return;
  if (typeof input === "function") {
    replace?.(request, await judged(call, await input(request), "input"));
    return;
  }
  const [, ...keys] = input.split(".");
  request.body = withValueAt(request.body, keys, await judged(call, valueAt(request.body, keys), input));
}

async function judged(call: GuardedCall, value: unknown, path: string): Promise<unknown> {
  if (typeof value === "string") return (await textsOf(call, [value]))[0];
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")) {
    return textsOf(call, value);
  }
  if (Array.isArray(value)) {
    const { messages } = await chatOf(call, { messages: value }, (place) => path + place.slice("messages".length));
    return messages;
  }
  if (isRecord(value) && "messages" in value) {
    const { messages, tools, system } = value as unknown as ChatRequest;
    const chat = { messages, ...("tools" in value ? { tools } : {}), ...("system" in value ? { system } : {}) };
    return { ...value, ...(await chatOf(call, chat, (place) => `${path}.${place}`)) };
  }
  const message = "expected a text, a list of texts, a list of messages, or an object with messages";
  throw new GuardValidationError([{ path, message }]);
}

async function textsOf(call: GuardedCall, given: readonly string[]): Promise<string[]> {
  const { report, texts } = await call.texts(given);
  throwIfBlocked("request", report);
  return texts;
}

/** @param placed turns the path of a value of the chat into its path in the request. */
async function chatOf(call: GuardedCall, chat: ChatRequest, placed: (path: string) => string): Promise<ChatRequest> {
  try {
    const { report, request } = await call.request(chat);
    throwIfBlocked("request", report);
    return request;
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    throw new GuardValidationError(error.issues.map(({ path, message }) => ({ path: placed(path), message })));
  }
}

/** What a framework sends: a value, or a text in pieces. */
export type JudgedAnswer = { value: unknown } | { pieces: AsyncIterable<string> };

/**
 * Judges an answer: a text, an object with a text at the path `output`, or a text in pieces. Of pieces, the first that may be shown
 * is awaited, so that an answer that is blocked before it can still get another status.
 *
 * @param endOf the text that ends an answer which was blocked when it had begun to go out; undefined where there is none.
 * @throws GuardBlockedError when a check failed.
 * @throws GuardError when the answer cannot be judged.
 */
export async function judgeAnswer(
  call: GuardedCall,
  answer: unknown,
  {
    output,
    signal,
    endOf,
  }: { output?: string | undefined; signal: AbortSignal; endOf(error: GuardBlockedError): Promise<string | undefined> },
): Promise<JudgedAnswer> {
  if (isTextStream(answer)) {
    const pieces = guardTextStream(call.answerStream(), answer, signal);
    const first = await pieces.next();
    return { pieces: first.done ? none() : following(first.value, pieces, endOf) };
  }
  if (typeof answer === "string") return { value: await textOf(call, answer) };
  const keys = output?.split(".") ?? [];
  const text = valueAt(answer, keys);
  if (output === undefined || typeof text !== "string") {
    const message = "expected the path of a text in the answer; other answers are texts or streams of text";
    throw new GuardValidationError([{ path: "output", message }]);
  }
  return { value: withValueAt(answer, keys, await textOf(call, text)) };
}

async function textOf(call: GuardedCall, answer: string): Promise<string> {
  const { report, text } = await call.answer({ text: answer });
  throwIfBlocked("answer", report);
  return text;
}

async function* none(): AsyncGenerator<string> {}

async function* following(
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
    // Without this, a reader who goes away after the first piece would leave the rest open.
    await rest.return(undefined);
  }
}

/** The answer to what is blocked: the user's, or a problem (RFC 9457) that names the failing checks. */
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

/** The text that a user's reply ends an answer with. */
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

/** A copy in which a value is replaced. Only what is on the way to it is copied. */
function withValueAt<T>(value: T, [key, ...rest]: readonly string[], replacement: unknown): T {
  if (key === undefined) return replacement as T;
  const inner = withValueAt((value as Record<string, unknown>)[key], rest, replacement);
  if (Array.isArray(value)) return value.with(Number(key), inner) as T;
  return { ...value, [key]: inner };
}
