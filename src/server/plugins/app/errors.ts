import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { GuardValidationError } from "../../../errors.ts";
import { failureOf } from "../../../guard/failure.ts";
import { Problem, type ProblemError, problemBody } from "../../problem.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The body of an error of this route, in JSON, for routes whose clients read errors of another shape than problems. */
    problemBody?: (problem: Problem) => unknown;
  }
}

/** The meaning of Fastify's own errors. Fastify's messages are not used, because some of them quote the request. */
const DETAILS: Record<number, string> = {
  400: "The body is not valid JSON.",
  403: "There is nothing here.",
  408: "The request took too long to arrive.",
  412: "The file is another one.",
  413: "The body is too large.",
  415: "The body must be application/json.",
  416: "There is no such range.",
  431: "The headers are too large.",
};

/**
 * Every error leaves as a problem (RFC 9457) or in the shape of its route, whatever threw it, and nothing of the request's content is in
 * it. The statuses of guard's own errors are those of `failureOf`.
 */
export const errors = fp(async (app: FastifyInstance) => {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methods.set(url, known);
  });

  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    return send(reply, problemOf(error, request.log));
  });

  app.setNotFoundHandler(async (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = methods.get(request.url.split("?", 1)[0] as string);
    return send(
      reply,
      allowed
        ? new Problem(405, `Use ${[...allowed].join(" or ")}.`, { headers: { allow: [...allowed].join(", ") } })
        : new Problem(404, "There is nothing here."),
    );
  });
});

/** The problem that an error is told as. Errors that are nobody's fault but ours are logged. */
export function problemOf(error: FastifyError | Error, log: FastifyRequest["log"]): Problem {
  const problem = toProblem(error);
  if (problem.status >= 500 && problem.status !== 503 && problem.status !== 504) {
    log.error({ err: error }, "request failed");
  }
  return problem;
}

/** Sends a problem, in the shape that the route has for errors. */
export function send(reply: FastifyReply, problem: Problem): FastifyReply {
  const { problemBody: ownBody } = reply.routeOptions?.config ?? {};
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type(ownBody ? "application/json" : "application/problem+json")
    .serializer((body: unknown) => JSON.stringify(body))
    .send(ownBody ? ownBody(problem) : problemBody(problem));
}

/** Answers bytes that are not HTTP, and closes their connection. */
export function answerUnreadable(error: Error & { code: string }, socket: Socket): void {
  if (error.code !== "ECONNRESET" && socket.writable) socket.write(rawProblem(error.code));
  // A client that does not hang up must not keep the connection.
  socket.destroySoon();
}

/**
 * The whole answer, headers included, to bytes that are not HTTP. There is no request yet that could be answered.
 *
 * @param code the code of Node's error, such as `HPE_INVALID_METHOD`.
 */
export function rawProblem(code: string): string {
  const status = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }[code] ?? 400;
  const problem = problemBody(new Problem(status, "This is not a request that can be read."));
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${problem.title}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function toProblem(error: FastifyError | Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof GuardValidationError) {
    return invalid(error.issues.map(({ path, message }) => ({ pointer: pointerTo(path), detail: message })));
  }
  const failure = failureOf(error);
  if (failure) {
    const { status, message, retryAfter } = failure;
    return new Problem(status, message, retryAfter ? { headers: { "retry-after": String(retryAfter) } } : {});
  }
  if ("validation" in error && error.validation) return invalid(error.validation.map(shapeError));
  const status = ("statusCode" in error && error.statusCode) || 500;
  const detail = DETAILS[status];
  return detail ? new Problem(status, detail) : new Problem(500, "Something went wrong here.");
}

function invalid(errors: readonly ProblemError[]): Problem {
  const byPointer = new Map<string, Set<string>>();
  for (const { pointer, detail } of errors) byPointer.set(pointer, (byPointer.get(pointer) ?? new Set()).add(detail));
  return new Problem(422, "The body has the wrong shape.", {
    errors: [...byPointer].map(([pointer, details]) => ({ pointer, detail: [...details].join(" or ") })),
  });
}

/** An error of the schema check. Its texts name types and allowed values, never the value that was sent. */
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

/** The JSON pointer of a path with dots: `messages.0.role` is `/messages/0/role`. */
function pointerTo(path: string): string {
  return path === "" ? "" : `/${path.split(".").map(escapePointer).join("/")}`;
}

function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}
