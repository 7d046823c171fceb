import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { failureOf } from "../guard/failure.ts";
import { Problem } from "../server/problem.ts";
import type { ErrorShape } from "../wire/format.ts";
import { anthropicErrors } from "../wire/formats/anthropic-errors.ts";
import { openaiErrors } from "../wire/formats/openai-errors.ts";

/** The headers of 503: whoever tries again a second later may find room. */
interface Told {
  status: number;
  message: string;
  headers: Readonly<Record<string, string>>;
}

/** Answers every error in the format of the API that the client speaks. Nothing of a request's content is in it. */
export const proxyErrors = fp(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const told = toldOf(error);
    if (told.status === 500) request.log.error({ err: error }, "request failed");
    return send(request, reply, told);
  });
  app.setNotFoundHandler(async (request, reply) => {
    return send(request, reply, { status: 404, message: "There is nothing here.", headers: {} });
  });
});

function toldOf(error: FastifyError | Error): Told {
  if (error instanceof Problem) return error;
  const failure = failureOf(error);
  if (!failure) return { status: 500, message: "Something went wrong here.", headers: {} };
  const { status, message, retryAfter } = failure;
  return { status, message, headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) } };
}

function send(request: FastifyRequest, reply: FastifyReply, { status, message, headers }: Told): FastifyReply {
  const type = status < 500 ? "invalid_request_error" : "api_error";
  const body = shapeFor(request).body({ status, type, code: "guard_proxy", message });
  return reply.code(status).headers(headers).type("application/json").send(JSON.stringify(body));
}

/** The shape of errors that a client can read: that of the format which it speaks, or of the API whose headers it sends. */
function shapeFor({ proxied, headers }: FastifyRequest): ErrorShape {
  if (proxied?.plan.kind === "guarded") return proxied.plan.format.errors;
  return "anthropic-version" in headers ? anthropicErrors : openaiErrors;
}
