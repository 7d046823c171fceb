import { z } from "zod";
import { promptRequest } from "./prompt.ts";
import { resultFields, scanFields } from "./scan.ts";

/** The most texts of one request. */
export const MOST_TEXTS = 1000;

const { vault: _, ...fields } = scanFields;

/** Prompts to check, each by itself. */
export const promptsRequest = z
  .object({
    prompts: z.array(z.string()).min(1).max(MOST_TEXTS).describe("The prompts, each of which is judged by itself."),
    source: promptRequest.shape.source,
    ...fields,
  })
  .describe("Prompts to check, each by itself.");

/** Outputs to check, each by itself. */
export const outputsRequest = z
  .object({
    outputs: z
      .array(z.object({ prompt: z.string().nullish().describe("The prompt that it answers."), output: z.string() }))
      .min(1)
      .max(MOST_TEXTS)
      .describe("The outputs, each of which is judged by itself."),
    ...fields,
  })
  .describe("Outputs to check, each by itself.");

/** A line of the answer. */
export const batchLine = z
  .object({
    index: z.int().describe("The place of the text in the request, from 0. The lines are in this order."),
    ...Object.fromEntries(Object.entries(resultFields).map(([name, schema]) => [name, schema.optional()])),
    status: z.int().optional().describe("Only where the text could not be judged: the fields of a problem (RFC 9457)."),
    title: z.string().optional(),
    detail: z.string().optional(),
  })
  .describe("The results of one text, or the reason why it has none.");

/** The examples of the API's description, of the same scanners as those of one prompt and of one output, and the last line of each. */
export const batchExamples = {
  prompts: { prompts: ["Which animal has a trunk?", "Which zebra has no stripes?"] },
  outputs: { outputs: [{ output: "The elephant has a trunk." }, { output: "The zebra has stripes." }] },
  promptLine: { index: 1, is_valid: false, scanners: { Anonymize: -1, BanSubstrings: 1 } },
  outputLine: { index: 1, is_valid: false, scanners: { BanSubstrings: 1 } },
};
