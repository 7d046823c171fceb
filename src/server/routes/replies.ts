import { type Problem, problemBody } from "../../http-server/problem.ts";
import type { ProblemReplies } from "../http/problem-replies.ts";
import { named } from "../schemas/named.ts";

/** Returns the response schema of a successful JSON reply. */
export function jsonReply(schema: string, example: unknown): Record<number, unknown> {
  return { 200: { description: "OK", content: { "application/json": { schema: named(schema), example } } } };
}

/**
 * Returns the response schemas of problems.
 *
 * @param ownBody makes the error body of routes with another shape.
 */
export function problemReplies(
  problems: ProblemReplies,
  ownBody?: (problem: Problem) => unknown,
): Record<number, unknown> {
  return Object.fromEntries(
    Object.entries(problems).map(([status, { description, example }]) => [
      status,
      {
        description,
        content: ownBody
          ? { "application/json": { schema: {}, example: ownBody(example) } }
          : { "application/problem+json": { schema: named("Problem"), example: problemBody(example) } },
      },
    ]),
  );
}
