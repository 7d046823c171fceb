import { z } from "zod";
import { ROLES } from "../../messages/chat-messages.ts";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { resultFields, sanitizedFields, scanFields, vaultField } from "./scan.ts";

export const messagePart = z
  .looseObject({
    type: z.string().describe("text, tool_result, image_url, ..."),
    text: z.string().nullish(),
  })
  .describe("A part of a message.");

export const message = z
  .looseObject({
    role: z.enum(ROLES).optional().describe("The author. Items of the Responses API have a type instead."),
    content: z
      .union([z.string(), z.null(), z.array(z.union([z.string(), messagePart])), messagePart])
      .optional()
      .describe("Text, or parts of it."),
  })
  .describe(
    "A message, in the format of OpenAI (chat completions or Responses), Anthropic, Google, MCP or the AI SDK.",
  );

/** Fields of a request to a model besides the messages. */
const requestFields = {
  tools: z
    .array(z.looseObject({}))
    .nullish()
    .describe("The definitions of tools, in the format of OpenAI, Anthropic, Google or MCP."),
  system: z
    .union([z.string(), z.array(messagePart)])
    .nullish()
    .describe("The system of Anthropic, or the instructions of the Responses API."),
  fields: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe(
      "Other fields of the request to the model, such as response_format and prediction. Their texts are read.",
    ),
};

/** The conversation of an output, for scanners that compare with it. */
export const answeredConversation = {
  messages: z
    .array(message)
    .min(1)
    .nullish()
    .describe("The conversation that the output answers, oldest first, for scanners that compare with it."),
  ...requestFields,
};

export const conversationRequest = z
  .object({
    messages: z.array(message).describe("The conversation, oldest first. It may be empty beside fields."),
    ...requestFields,
    ...scanFields,
  })
  .describe("A conversation to check.");

/** The fields with the whole sanitized conversation. */
export const sanitizedConversation = {
  sanitized_messages: z
    .array(message)
    .optional()
    .describe("With details: all messages with the edits of all scanners."),
  sanitized_tools: z.array(z.looseObject({})).optional().describe("With details: the sanitized tools."),
  sanitized_system: z
    .union([z.string(), z.array(messagePart)])
    .optional()
    .describe("With details: the sanitized system prompt."),
  ...sanitizedFields,
};

/** The response of `POST /analyze/conversation`. */
export const conversationResult = z
  .object({
    sanitized_prompt: z.string().describe("The latest user message with the edits of all scanners."),
    ...sanitizedConversation,
    ...resultFields,
    ...vaultField,
  })
  .describe("The result of a conversation, with its sanitized texts.");

/** Examples with the scanners Anonymize, and BanSubstrings for the word zebra. */
export const conversationExamples = {
  request: {
    messages: [
      { role: "user", content: "Tell me of the zebra." },
      { role: "assistant", content: "It has stripes." },
      { role: "user", content: "Send that to ann@example.org." },
    ],
  },
  analyzed: {
    sanitized_prompt: "Send that to [REDACTED_EMAIL_ADDRESS_1].",
    is_valid: false,
    scanners: { Anonymize: 0.9, BanSubstrings: -1, "BanSubstrings[window]": 1 },
    vault: "AT6rCk1Yw0dQ0Vd9mE2x",
  },
  scanned: { is_valid: false, scanners: { Anonymize: 0.9, BanSubstrings: -1, "BanSubstrings[window]": 1 } },
};

/** Returns the part of a body that is sent to a model. Its shape is validated; its content is validated when it is read. */
export function chatOf({ messages, tools, system, fields }: Partial<Record<keyof ChatRequest, unknown>>): ChatRequest {
  return { messages, tools, system, fields } as ChatRequest;
}
