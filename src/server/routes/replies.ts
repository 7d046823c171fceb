import { type Problem, problemBody } from "../../http-server/problem.ts";
import type { ProblemReplies } from "../http/problem-replies.ts";
import { named } from "../schemas/named.ts";

/** The JSON reply of a route that succeeds. */
export function jsonReply(schema: string, example: unknown): Record<number, unknown> {
  return { 200: { description: "OK", content: { "application/json": { schema: named(schema), example } } } };
}

/**
 * Replies that are problems, by status, as the API's description has them.
 *
 * @param ownBody makes the body of errors where the route has another shape for them.
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
