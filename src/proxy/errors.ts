import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { toHttpFailure } from "../guard/http-failure.ts";
import { toReplyError } from "../http-formats/errors.ts";
import type { ErrorFormat } from "../http-formats/format.ts";
import { anthropicErrors } from "../http-formats/formats/anthropic-errors.ts";
import { googleErrors } from "../http-formats/formats/google-errors.ts";
import { openaiErrors } from "../http-formats/formats/openai-errors.ts";
import { Problem } from "../http-server/problem.ts";

/** An answer that guard gives instead of the upstream. */
export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  /** JSON. */
  body: string;
}

/** Returns the answer to an error in the format of an API, without content of the request. */
export function errorReply(error: unknown, format: ErrorFormat): ErrorReply {
  if (error instanceof Problem) {
    const { status, message, headers } = error;
    const type = status < 500 ? "invalid_request_error" : "api_error";
    return { status, headers, body: JSON.stringify(format.body({ status, type, code: "guard_proxy", message })) };
  }
  const reply = toReplyError(error, format.blockedStatus);
  const retryAfter = toHttpFailure(error)?.retryAfter;
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return { status: reply.status, headers, body: JSON.stringify(format.body(reply)) };
}

/** Sends every error in the format of the client's API, without content of the request. */
export const proxyErrors = fp(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    // Fastify's message quotes the invalid content type.
    const shown = error.statusCode === 415 ? new Problem(415, "The content type is not valid.") : error;
    const failed = sendError(request, reply, shown);
    if (reply.statusCode === 500) request.log.error({ err: error }, "request failed");
    return failed;
  });
  app.setNotFoundHandler(async (request, reply) =>
    sendError(request, reply, new Problem(404, "There is no such path.")),
  );
});

function sendError({ proxied, headers: sent }: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const format = proxied?.plan.kind === "guarded" ? proxied.plan.format.errors : unknownFormat(sent);
  const { status, headers, body } = errorReply(error, format);
  return reply.code(status).headers(headers).type("application/json").send(body);
}

/** Returns the error shape of the API that a client uses, by its headers, for a call without a known format. */
export function unknownFormat(headers: object): ErrorFormat {
  if ("anthropic-version" in headers) return anthropicErrors;
  const isGoogle = "x-goog-api-key" in headers || "x-goog-api-client" in headers;
  return isGoogle ? googleErrors : openaiErrors;
}
