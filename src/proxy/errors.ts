import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { toHttpFailure } from "../guard/http-failure.ts";
import { type ReplyError, toReplyError } from "../http-formats/errors.ts";
import type { ErrorFormat } from "../http-formats/format.ts";
import { anthropicErrors } from "../http-formats/formats/anthropic-errors.ts";
import { openaiErrors } from "../http-formats/formats/openai-errors.ts";
import { Problem } from "../http-server/problem.ts";

/** Sends every error in the format of the client's API, without content of the request. */
export const proxyErrors = fp(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    if (error instanceof Problem) return refuse(request, reply, error);
    // Fastify's message quotes the invalid content type.
    if (error.statusCode === 415) return refuse(request, reply, new Problem(415, "The content type is not valid."));
    const apiError = toReplyError(error);
    if (apiError.status === 500) request.log.error({ err: error }, "request failed");
    const retryAfter = toHttpFailure(error)?.retryAfter;
    if (retryAfter !== undefined) reply.header("retry-after", String(retryAfter));
    return sendError(request, reply, apiError);
  });
  app.setNotFoundHandler(async (request, reply) => refuse(request, reply, new Problem(404, "There is no such path.")));
});

function refuse(request: FastifyRequest, reply: FastifyReply, { status, message, headers }: Problem): FastifyReply {
  reply.headers(headers);
  const type = status < 500 ? "invalid_request_error" : "api_error";
  return sendError(request, reply, { status, type, code: "guard_proxy", message });
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: ReplyError): FastifyReply {
  const body = shapeFor(request).body(error);
  return reply.code(error.status).type("application/json").send(JSON.stringify(body));
}

/** Returns the error shape of the API that the client uses, which its headers tell if its call has no known format. */
function shapeFor({ proxied, headers }: FastifyRequest): ErrorFormat {
  if (proxied?.plan.kind === "guarded") return proxied.plan.format.errors;
  return "anthropic-version" in headers ? anthropicErrors : openaiErrors;
}
