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
  checkRouteOptions,
  endText,
  type HttpGuardOptions,
  httpError,
  judgeAnswer,
  judgeInput,
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
      /** The guarded call of this request. Its checks end when the client goes away. */
      guard: GuardedCall;
    }
    interface Response {
      /**
       * Judges an answer and sends it: a text, a stream of text, or an object with a text at the path `output`. When it is blocked,
       * the response is that of `onBlocked`. It never rejects: errors go to `next`.
       */
      sendGuarded(answer: unknown): Promise<void>;
    }
  }
}

/**
 * Middleware for Express 4 and 5. The request gets `request.guard`, the response `response.sendGuarded`; with `input`, which needs a
 * body that was parsed before, such as by `express.json()`, the next handler gets a body that was judged and sanitized. Errors of
 * guard go to `next` with `statusCode`. When it is used twice for a request, both share the guarded call, which the first one makes.
 *
 * @throws GuardValidationError when the options are wrong, and GuardError `GUARD_PACKAGE` beside an older Express.
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
    // Express 4 does not wait for handlers, so that a rejection would be nobody's.
    judgeInput(request.guard, request, options).then(() => next(), fail);
  };
}

async function sendGuarded(
  answer: unknown,
  request: Request,
  response: Response,
  signal: AbortSignal,
  options: RouteGuardOptions<Request>,
): Promise<void> {
  const judged = await judgeAnswer(request.guard, answer, {
    output: options.output,
    signal,
    endOf: (error) => endText(error, request, options),
  });
  const isText = !("value" in judged) || typeof judged.value === "string";
  // Express would say that a text is HTML.
  if (isText && !response.hasHeader("content-type")) response.type("text/plain");
  if ("pieces" in judged) await pipeline(Readable.from(judged.pieces, { objectMode: false }), response);
  else if (isText) response.send(judged.value);
  else response.json(judged.value);
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
