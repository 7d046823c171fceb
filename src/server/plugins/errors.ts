import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { GuardError, GuardValidationError, ScannerError } from "../../errors.ts";
import { Problem, type ProblemError, problemBody, unavailable } from "../problem.ts";
import { closingProblem } from "../scan-service.ts";

/** What Fastify's own errors mean. Its texts are not used: some quote the request. */
const DETAILS: Record<number, string> = {
  400: "The body is not valid JSON.",
  403: "There is nothing here.",
  408: "The request took too long to arrive.",
  413: "The body is too large.",
  412: "The file is another one.",
  415: "The body must be application/json.",
  416: "There is no such range.",
  431: "The headers are too large.",
};

/** Every error leaves as a problem (RFC 9457), whatever threw it, and nothing of the request's content is in it. */
export const errors = fp(async (app: FastifyInstance) => {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methods.set(url, known);
  });

  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500 && problem.status !== 503 && problem.status !== 504) {
      request.log.error({ err: error }, "request failed");
    }
    return send(reply, problem);
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

/** Sends a problem. */
export function send(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type("application/problem+json")
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemBody(problem));
}

function toProblem(error: FastifyError | Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof GuardError && error.code === "GUARD_OVERLOADED")
    return unavailable("Too many texts wait for a model.", 1);
  if (error instanceof GuardError && error.code === "GUARD_CLOSED") return closingProblem();
  // What a scanner says may quote the text that it was given.
  if (error instanceof ScannerError) return new Problem(500, `The scanner ${error.scanner} failed.`);
  if (error instanceof GuardValidationError) {
    return invalid(error.issues.map(({ path, message }) => ({ pointer: pointerTo(path), detail: message })));
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

/** The JSON pointer of a dotted path. */
function pointerTo(path: string): string {
  return path === "" ? "" : `/${path.split(".").map(escapePointer).join("/")}`;
}

function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}
