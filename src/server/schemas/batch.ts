import { z } from "zod";
import { promptRequest } from "./prompt.ts";
import { resultFields, scanFields } from "./scan.ts";

const MAX_TEXTS = 1000;

const { vault: _, ...fields } = scanFields;

export const promptsRequest = z
  .object({
    prompts: z.array(z.string()).min(1).max(MAX_TEXTS).describe("The prompts, each of which is checked by itself."),
    source: promptRequest.shape.source,
    ...fields,
  })
  .describe("Prompts to check, each by itself.");

export const outputsRequest = z
  .object({
    outputs: z
      .array(z.object({ prompt: z.string().nullish().describe("The prompt of the output."), output: z.string() }))
      .min(1)
      .max(MAX_TEXTS)
      .describe("The outputs, each of which is checked by itself."),
    ...fields,
  })
  .describe("Outputs to check, each by itself.");

/** A line of the response. */
export const batchLine = z
  .object({
    index: z.int().describe("The index of the text in the request, from 0. Lines are in this order."),
    ...Object.fromEntries(Object.entries(resultFields).map(([name, schema]) => [name, schema.optional()])),
    status: z.int().optional().describe("Only if the text could not be scanned: the fields of a problem (RFC 9457)."),
    title: z.string().optional(),
    detail: z.string().optional(),
  })
  .describe("The result of one text, or its problem.");

/** Examples with the scanners of the examples of single texts, and the last line of each response. */
export const batchExamples = {
  prompts: { prompts: ["Which animal has a trunk?", "Which zebra has no stripes?"] },
  outputs: { outputs: [{ output: "The elephant has a trunk." }, { output: "The zebra has stripes." }] },
  promptLine: { index: 1, is_valid: false, scanners: { Anonymize: -1, BanSubstrings: 1 } },
  outputLine: { index: 1, is_valid: false, scanners: { BanSubstrings: 1 } },
};
