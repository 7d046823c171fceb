import { z } from "zod";
import { answeredConversation } from "./conversation.ts";
import { resultFields, sanitizedFields, scanFields } from "./scan.ts";

export const toolCall = z
  .looseObject({
    id: z.string().optional().describe("Matches the result to the call."),
    type: z.literal("function"),
    function: z.looseObject({ name: z.string(), arguments: z.string().describe("The arguments, in JSON.") }),
  })
  .describe("A tool call, in the format of OpenAI's chat completions.");

export const outputRequest = z
  .object({
    prompt: z.string().describe("The prompt that the output answers."),
    output: z.string().describe("The model's output."),
    ...answeredConversation,
    tool_calls: z
      .array(toolCall)
      .nullish()
      .describe(
        "Tool calls of the same response, which scanners of tool calls check, and in which values are restored.",
      ),
    ...scanFields,
  })
  .describe("A model's output to check.");

/** The response of `POST /analyze/output`. */
export const outputResult = z
  .object({
    sanitized_output: z.string().describe("The output with the edits of all scanners."),
    ...sanitizedFields,
    sanitized_tool_calls: z.array(toolCall).optional().describe("The tool calls with the edits of all scanners."),
    ...resultFields,
  })
  .describe("The result of an output, with its sanitized text.");

/** Examples with the scanner BanSubstrings, which redacts the word zebra. */
export const outputExamples = {
  request: { prompt: "Which animal has stripes?", output: "The zebra has stripes. 🦓" },
  analyzed: { sanitized_output: "The [REDACTED] has stripes. 🦓", is_valid: false, scanners: { BanSubstrings: 1 } },
  scanned: { is_valid: false, scanners: { BanSubstrings: 1 } },
};
