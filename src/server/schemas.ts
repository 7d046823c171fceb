import { z } from "zod";
import { problemSchema } from "./problem.ts";

/** The JSON Schema of a zod schema: what Fastify validates and serializes with, and what the API's description shows. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: "draft-7", io });
  return rest;
}

/** Body fields of every scan. Fields that are not known are ignored, as llm-guard does. */
export const scanFields = {
  scanners_suppress: z
    .array(z.string())
    .nullish()
    .describe("Names of scanners to leave out, of type or of instance; X leaves out X[window] and X[tool] too."),
  details: z.boolean().nullish().describe("Adds findings, probabilities, timing and coverage to the answer."),
  vault: z
    .string()
    .nullish()
    .describe(
      "The vault of the latest answer in the same conversation: Deanonymize restores from it, and what was replaced before " +
        "gets the same placeholder again.",
    ),
};

/** Body fields of every scan, as parsed. */
export interface ScanFields {
  scanners_suppress?: string[] | null | undefined;
  details?: boolean | null | undefined;
  vault?: string | null | undefined;
}

/** Fields of every answer to a scan. Offsets and lengths are in Unicode code points. */
export const resultFields = {
  is_valid: z.boolean().describe("Whether the text passed every check."),
  scanners: z.record(z.string(), z.number()).describe("Risk score by scanner: below 0 passes, above 0 fails."),
  findings: z
    .record(
      z.string(),
      z.array(
        z.object({
          start: z
            .int()
            .describe(
              "In code points of the text that the scanner was given, which those before it may have rewritten.",
            ),
          end: z.int(),
          type: z.string(),
          text: z.string().optional(),
          score: z.number(),
          label: z.string().optional(),
          service: z.string().optional(),
          view: z.string().optional().describe("The decoded view that it was found in, such as base64."),
        }),
      ),
    )
    .optional()
    .describe("With details: why each scanner decided as it did."),
  probabilities: z
    .record(z.string(), z.number())
    .optional()
    .describe("With details: what the threshold was compared with, 0..1, by scanner that goes by a probability."),
  timing: z.record(z.string(), z.number()).optional().describe("With details: milliseconds by scanner."),
  coverage: z
    .object({
      chars: z.int(),
      scanned_chars: z.int(),
      truncated: z.boolean(),
      windows: z.int(),
      parts_skipped: z.int(),
      suppressed: z.array(z.string()),
      failed: z.array(z.string()),
    })
    .optional()
    .describe("With details: how much was looked at."),
};

/** The field of an answer for what its text was sanitized of. */
export const vaultField = {
  vault: z
    .string()
    .optional()
    .describe(
      "What Anonymize replaced, sealed. Hand it in with the output, to restore the values, and with the next turn of the " +
        "conversation. Whoever has it and may call this API can see the values. Absent when nothing was replaced.",
    ),
};

/** The problems that a scan may end with. */
export const scanProblems: Record<number, string> = {
  400: "Not JSON",
  401: "Not authenticated",
  413: "Body, conversation or vault too large",
  415: "Not application/json",
  422: "JSON of the wrong shape, or a vault that cannot be opened",
  429: "Too many requests",
  500: "A scanner failed",
  503: "Starting, overloaded or closing",
  504: "The scan took too long",
};

/** The answer of a route that goes well. */
export function answer(schema: z.ZodType): Record<number, unknown> {
  return { 200: { description: "OK", ...jsonSchema(schema, "output") } };
}

/** Answers that are problems, by status, as the API's description has them. */
export function problemAnswers(problems: Record<number, string>): Record<number, unknown> {
  const schema = jsonSchema(problemSchema, "output");
  return Object.fromEntries(
    Object.entries(problems).map(([status, description]) => [
      status,
      { description, content: { "application/problem+json": { schema } } },
    ]),
  );
}
