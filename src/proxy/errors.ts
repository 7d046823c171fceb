import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { failureOf } from "../guard/failure.ts";
import { type WireError, wireError } from "../http-formats/errors.ts";
import type { ErrorShape } from "../http-formats/format.ts";
import { anthropicErrors } from "../http-formats/formats/anthropic-errors.ts";
import { openaiErrors } from "../http-formats/formats/openai-errors.ts";
import { Problem } from "../http-server/problem.ts";

/** Answers every error in the format of the API that the client speaks. Nothing of a request's content is in it. */
export const proxyErrors = fp(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    if (error instanceof Problem) return refuse(request, reply, error);
    // Fastify says so of a content type that is none. Its message quotes it.
    if (error.statusCode === 415) return refuse(request, reply, new Problem(415, "The content type cannot be read."));
    const told = wireError(error);
    if (told.status === 500) request.log.error({ err: error }, "request failed");
    const retryAfter = failureOf(error)?.retryAfter;
    if (retryAfter !== undefined) reply.header("retry-after", String(retryAfter));
    return send(request, reply, told);
  });
  app.setNotFoundHandler(async (request, reply) => refuse(request, reply, new Problem(404, "There is nothing here.")));
});

function refuse(request: FastifyRequest, reply: FastifyReply, { status, message, headers }: Problem): FastifyReply {
  reply.headers(headers);
  const type = status < 500 ? "invalid_request_error" : "api_error";
  return send(request, reply, { status, type, code: "guard_proxy", message });
}

function send(request: FastifyRequest, reply: FastifyReply, told: WireError): FastifyReply {
  const body = shapeFor(request).body(told);
  return reply.code(told.status).type("application/json").send(JSON.stringify(body));
}

/** The shape of errors that a client can read: that of the format which it speaks, or of the API whose headers it sends. */
function shapeFor({ proxied, headers }: FastifyRequest): ErrorShape {
  if (proxied?.plan.kind === "guarded") return proxied.plan.format.errors;
  return "anthropic-version" in headers ? anthropicErrors : openaiErrors;
}
