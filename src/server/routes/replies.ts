import { problemBody } from "../problem.ts";
import type { ProblemReplies } from "../problem-replies.ts";
import { named } from "../schemas/named.ts";

/** The JSON reply of a route that succeeds. */
export function jsonReply(schema: string, example: unknown): Record<number, unknown> {
  return { 200: { description: "OK", content: { "application/json": { schema: named(schema), example } } } };
}

/** Replies that are problems, by status, as the API's description has them. */
export function problemReplies(problems: ProblemReplies): Record<number, unknown> {
  return Object.fromEntries(
    Object.entries(problems).map(([status, { description, example }]) => [
      status,
      {
        description,
        content: { "application/problem+json": { schema: named("Problem"), example: problemBody(example) } },
      },
    ]),
  );
}
