import { z } from "zod";
import type { ProblemBody } from "../../http-server/problem.ts";

/** The body of an error: RFC 9457 (Problem Details for HTTP APIs), with the `message` and `details` of llm-guard. */
export const problemSchema = z
  .object({
    type: z.string().describe("about:blank: the title is the meaning of the status."),
    title: z.string().describe("The name of the status."),
    status: z.int().describe("The HTTP status."),
    detail: z.string().describe("What is wrong, in a sentence that does not quote the request."),
    errors: z
      .array(
        z.object({
          pointer: z.string().describe("JSON pointer (RFC 6901) into the body."),
          detail: z.string().describe("What is wrong with the value."),
        }),
      )
      .optional()
      .describe("The invalid values."),
    message: z.string().describe("As in the API of llm-guard: Validation failed for 422, otherwise the detail."),
    details: z
      .array(z.object({ type: z.string(), loc: z.array(z.union([z.string(), z.int()])), msg: z.string() }))
      .nullable()
      .describe("As in the API of llm-guard: the invalid values."),
  })
  .describe("Problem Details (RFC 9457)") satisfies z.ZodType<ProblemBody>;
