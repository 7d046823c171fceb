// The public surface of `guard-scan/express`.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Request, RequestHandler, Response } from "express";
import { GuardBlockedError } from "../guard/blocked-error.ts";
import type { GuardedCall } from "../guard/guard.ts";
import { disconnectSignal } from "../support/disconnect.ts";
import { checkInstalledVersion } from "../support/optional-packages.ts";
import {
  blockedReply,
  checkAnswer,
  checkInput,
  checkRouteOptions,
  endText,
  type HttpGuardOptions,
  httpError,
  type RouteGuardOptions,
} from "./parts/http-guard.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export { type BlockedReply, GuardHttpError, type RouteGuardOptions } from "./parts/http-guard.ts";

/** Options of the middleware. */
export type GuardExpressOptions = HttpGuardOptions<Request>;

declare global {
  namespace Express {
    interface Request {
      /** The guarded call of this request. Its checks are aborted if the client disconnects. */
      guard: GuardedCall;
    }
    interface Response {
      /**
       * Checks an answer and sends it: a text, a stream of text, or an object with a text at the path `output`. If it is blocked, the
       * reply of `onBlocked` is sent. The promise never rejects: errors go to `next`.
       */
      sendGuarded(answer: unknown): Promise<void>;
    }
  }
}

/**
 * Middleware for Express 4 and 5. Requests have `request.guard`, responses `response.sendGuarded`. With `input`, the next handler gets a
 * checked and sanitized body; a middleware such as `express.json()` must parse the body before. Errors of guard go to `next` with a
 * `statusCode`. If several of these middlewares handle a request, they share one guarded call.
 *
 * @throws GuardValidationError for invalid options, and GuardError `GUARD_PACKAGE` for an older Express.
 */
export function guardExpress({ guard, ...options }: GuardExpressOptions): RequestHandler {
  checkInstalledVersion("express");
  checkRouteOptions(options);
  const { suppress } = options;
  return (request, response, next) => {
    const signal = disconnectSignal(response);
    request.guard ??= guard.call({ signal, ...(suppress ? { suppress } : {}) });
    const fail = async (error: unknown) => {
      try {
        if (error instanceof GuardBlockedError && !response.headersSent)
          await sendBlocked(error, request, response, options);
        else next(httpError(error));
      } catch (thrown) {
        next(thrown);
      }
    };
    response.sendGuarded = (answer) => sendGuarded(answer, request, response, signal, options).catch(fail);
    // Express 4 does not await handlers, so a rejection would be unhandled.
    checkInput(request.guard, request, options).then(() => next(), fail);
  };
}

async function sendGuarded(
  answer: unknown,
  request: Request,
  response: Response,
  signal: AbortSignal,
  options: RouteGuardOptions<Request>,
): Promise<void> {
  const checked = await checkAnswer(request.guard, answer, {
    output: options.output,
    signal,
    endOf: (error) => endText(error, request, options),
  });
  const isText = !("value" in checked) || typeof checked.value === "string";
  // The default of Express for a text is HTML.
  if (isText && !response.hasHeader("content-type")) response.type("text/plain");
  if ("pieces" in checked) await pipeline(Readable.from(checked.pieces, { objectMode: false }), response);
  else if (isText) response.send(checked.value);
  else response.json(checked.value);
}

async function sendBlocked(
  error: GuardBlockedError,
  request: Request,
  response: Response,
  options: RouteGuardOptions<Request>,
): Promise<void> {
  const { status, headers, body } = await blockedReply(error, request, options);
  response.status(status).set(headers);
  if (typeof body !== "string") {
    response.json(body);
    return;
  }
  if (!response.hasHeader("content-type")) response.type("text/plain");
  response.send(body);
}
