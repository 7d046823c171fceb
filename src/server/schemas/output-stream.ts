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
      'Send one event for each line, whose text may be empty, with the milliseconds until {"flush": true} releases held text. By ' +
        "default held text is released automatically.",
    ),
};

/** The first line of a streamed output. */
export const outputStreamStart = z
  .object(startFields)
  .describe('The first line. The others are {"text": "..."}, or a text, and at the end {"end": true}.');

export const outputStreamRequest = z
  .object({
    ...startFields,
    output: z
      .union([z.string().describe("As a whole."), z.array(z.string()).describe("In pieces.")])
      .describe("The model's output."),
  })
  .describe("A complete output to check.");

const { outcome: _, ...results } = resultFields;

/** An event of the response, as a line of JSON. */
export const outputStreamEvent = z
  .object({
    event: z
      .enum(["text", "done", "blocked", "error"])
      .describe("text: text to show now. done, blocked: the end, with the results. error: the end, with a problem."),
    text: z.string().optional().describe("With text: it continues the text of earlier events."),
    waiting: z
      .number()
      .nullable()
      .optional()
      .describe("With text and every_step: the milliseconds until a flush releases held text."),
    outcome: z.enum(OUTCOMES).optional().describe("With done and blocked: what to do with the output."),
    at_end: z
      .array(z.string())
      .optional()
      .describe("With done and blocked: the scanners that need the whole output, and ran only at its end."),
    ...Object.fromEntries(Object.entries(results).map(([name, schema]) => [name, schema.optional()])),
    title: z.string().optional().describe("With error: the fields of a problem (RFC 9457)."),
    status: z.int().optional(),
    detail: z.string().optional(),
  })
  .describe("An event. In server-sent events its name is event, and its data are the other fields.");

const blocked = { is_valid: false, scanners: { BanSubstrings: 1 }, outcome: "blocked", at_end: [] };

/** Examples with the scanner BanSubstrings for the word zebra. */
export const outputStreamExamples = {
  request: { prompt: "Which animal has stripes?", output: ["The zeb", "ra has stripes. 🦓"] },
  lines: '{"prompt":"Which animal has stripes?"}\n{"text":"The zeb"}\n{"text":"ra has stripes. 🦓"}\n{"end":true}\n',
  event: { event: "blocked", ...blocked },
  sse: `event: blocked\ndata: ${JSON.stringify(blocked)}\n\n`,
};
