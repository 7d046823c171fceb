import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { toHttpFailure } from "../../guard/http-failure.ts";
import {
  escapePointer,
  Problem,
  type ProblemError,
  pointerOf,
  problemBody,
  REFUSALS,
} from "../../http-server/problem.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { withoutStack } from "../../support/without-stack.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Makes the error body of a route whose clients expect another shape than problems. */
    problemBody?: (problem: Problem) => unknown;
  }
}

/** Replaces the messages of Fastify's own errors by status: some of them quote the request. */
const DETAILS: Record<number, string> = {
  400: "The body is not valid JSON.",
  403: "There is no such path.",
  412: "The file has changed.",
  415: "The body must be application/json.",
  416: "The range is not valid.",
  ...REFUSALS,
};

/** Sends every error as a problem (RFC 9457) or in the shape of its route, without content of the request. */
export const errors = fp(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    return sendProblem(reply, problemOf(error, request.log));
  });
});

/** Turns an error into a problem, and logs internal errors. */
export function problemOf(error: FastifyError | Error, log: FastifyRequest["log"]): Problem {
  const problem = withoutStack(() => toProblem(error));
  if (problem.status >= 500 && problem.status !== 503 && problem.status !== 504) {
    log.error({ err: error }, "request failed");
  }
  return problem;
}

/** Sends a problem in the error shape of the route. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { problemBody: ownBody } = reply.routeOptions?.config ?? {};
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type(ownBody ? "application/json" : "application/problem+json")
    .serializer((body: unknown) => JSON.stringify(body))
    .send(ownBody ? ownBody(problem) : problemBody(problem));
}

function toProblem(error: FastifyError | Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof GuardValidationError) {
    return invalid(
      error.issues.map(({ path, message }) => ({
        pointer: pointerOf(path === "" ? [] : path.split(".")),
        detail: message,
      })),
    );
  }
  const failure = toHttpFailure(error);
  if (failure) {
    const { status, message, retryAfter } = failure;
    return new Problem(status, message, retryAfter ? { headers: { "retry-after": String(retryAfter) } } : {});
  }
  if ("validation" in error && error.validation) return invalid(error.validation.map(shapeError));
  const status = ("statusCode" in error && error.statusCode) || 500;
  const detail = DETAILS[status];
  return detail ? new Problem(status, detail) : new Problem(500, "An internal error occurred.");
}

function invalid(errors: readonly ProblemError[]): Problem {
  const byPointer = new Map<string, Set<string>>();
  for (const { pointer, detail } of errors) byPointer.set(pointer, (byPointer.get(pointer) ?? new Set()).add(detail));
  return new Problem(422, "The body has the wrong shape.", {
    errors: [...byPointer].map(([pointer, details]) => ({ pointer, detail: [...details].join(" or ") })),
  });
}

/** Turns an error of the schema validation into a problem error. Its texts name types and allowed values, never the given value. */
function shapeError({
  instancePath,
  keyword,
  params,
  message,
}: NonNullable<FastifyError["validation"]>[number]): ProblemError {
  if (keyword === "required") {
    return { pointer: `${instancePath}/${escapePointer(String(params.missingProperty))}`, detail: "is required" };
  }
  if (keyword === "enum") {
    return { pointer: instancePath, detail: `must be one of ${(params.allowedValues as string[]).join(", ")}` };
  }
  return { pointer: instancePath, detail: message ?? "is wrong" };
}
