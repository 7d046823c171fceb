import { z } from "zod";
import { answeredConversation } from "./conversation.ts";
import { resultFields, scanFields } from "./scan.ts";

/** A tool call of a model. */
export const toolCall = z
  .looseObject({
    id: z.string().optional().describe("Matches the result to the call."),
    type: z.literal("function"),
    function: z.looseObject({ name: z.string(), arguments: z.string().describe("The arguments, in JSON.") }),
  })
  .describe("A tool call, in the format of OpenAI's chat completions.");

/** A model's output to check. */
export const outputRequest = z
  .object({
    prompt: z.string().describe("The prompt that the output answers."),
    output: z.string().describe("The model's output."),
    ...answeredConversation,
    tool_calls: z
      .array(toolCall)
      .nullish()
      .describe(
        "Tool calls beside the output, which the scanners of tool calls judge and in which values are restored.",
      ),
    ...scanFields,
  })
  .describe("A model's output to check.");

/** The answer of `POST /analyze/output`. */
export const outputResult = z
  .object({
    sanitized_output: z.string().describe("The output, as the scanners rewrote it."),
    sanitized_tool_calls: z.array(toolCall).optional().describe("The tool calls as they may be made."),
    ...resultFields,
  })
  .describe("What the scanners say of an output, and what they made of it.");

/** The examples of the API's description, of one scanner: BanSubstrings with the word zebra, which it redacts. */
export const outputExamples = {
  request: { prompt: "Which animal has stripes?", output: "The zebra has stripes. 🦓" },
  analyzed: { sanitized_output: "The [REDACTED] has stripes. 🦓", is_valid: false, scanners: { BanSubstrings: 1 } },
  scanned: { is_valid: false, scanners: { BanSubstrings: 1 } },
};
