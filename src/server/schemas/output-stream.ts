import { z } from "zod";
import { OUTCOMES } from "../../scan/outcome.ts";
import { answeredConversation } from "./conversation.ts";
import { resultFields, scanFields } from "./scan.ts";

const startFields = {
  prompt: z.string().describe("The prompt that the output answers."),
  ...answeredConversation,
  ...scanFields,
  every_step: z
    .boolean()
    .nullish()
    .describe(
      'Answers each line with one event, whose text may be empty and which says in how many milliseconds {"flush": true} would give ' +
        "something out. Without it, what waits is given out by itself.",
    ),
};

/** The first line of an output that arrives in lines. */
export const outputStreamStart = z
  .object(startFields)
  .describe('The first line. The others are {"text": "..."}, or a text, and at the end {"end": true}.');

/** A model's output in one body. */
export const outputStreamRequest = z
  .object({
    ...startFields,
    output: z
      .union([z.string().describe("As a whole."), z.array(z.string()).describe("In pieces.")])
      .describe("The model's output."),
  })
  .describe("A model's output to check, for a client that has all of it.");

const { outcome: _, ...results } = resultFields;

/** An event of the answer, as a line of JSON. */
export const outputStreamEvent = z
  .object({
    event: z
      .enum(["text", "done", "blocked", "error"])
      .describe("text: what may be shown now. done, blocked: the end, with the results. error: a problem ended it."),
    text: z.string().optional().describe("With text: it follows what earlier events gave."),
    waiting: z
      .number()
      .nullable()
      .optional()
      .describe("With text, where every step is asked for: the milliseconds after which a flush would give text out."),
    outcome: z.enum(OUTCOMES).optional().describe("With done and blocked: what becomes of the output."),
    at_end: z
      .array(z.string())
      .optional()
      .describe("With done and blocked: the scanners that need the whole output, and so ran at its end only."),
    ...Object.fromEntries(Object.entries(results).map(([name, schema]) => [name, schema.optional()])),
    title: z.string().optional().describe("With error: the fields of a problem (RFC 9457)."),
    status: z.int().optional(),
    detail: z.string().optional(),
  })
  .describe("An event. Of server-sent events the name is the event, and the data are the other fields.");

const blocked = { is_valid: false, scanners: { BanSubstrings: 1 }, outcome: "blocked", at_end: [] };

/** The examples of the API's description, of one scanner: BanSubstrings with the word zebra. */
export const outputStreamExamples = {
  request: { prompt: "Which animal has stripes?", output: ["The zeb", "ra has stripes. 🦓"] },
  lines: '{"prompt":"Which animal has stripes?"}\n{"text":"The zeb"}\n{"text":"ra has stripes. 🦓"}\n{"end":true}\n',
  event: { event: "blocked", ...blocked },
  sse: `event: blocked\ndata: ${JSON.stringify(blocked)}\n\n`,
};
