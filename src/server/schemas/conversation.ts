import { z } from "zod";
import { ROLES } from "../../messages/chat-messages.ts";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { resultFields, scanFields, vaultField } from "./scan.ts";

/** A part of a message's content. */
export const messagePart = z
  .looseObject({
    type: z.string().describe("text, tool_result, image_url, ..."),
    text: z.string().nullish(),
  })
  .describe("A part of a message.");

/** A message of a chat. */
export const message = z
  .looseObject({
    role: z.enum(ROLES).optional().describe("Who wrote it. Items of the Responses API have a type in its place."),
    content: z
      .union([z.string(), z.null(), z.array(z.union([z.string(), messagePart])), messagePart])
      .optional()
      .describe("Text, or parts of it."),
  })
  .describe("A message, in the format of OpenAI (chat completions or Responses), Anthropic or MCP.");

/** Fields of what is sent to a model besides the messages. */
const besideMessages = {
  tools: z
    .array(z.looseObject({}))
    .nullish()
    .describe("The definitions of tools, in the format of OpenAI, Anthropic or MCP."),
  system: z
    .union([z.string(), z.array(messagePart)])
    .nullish()
    .describe("Anthropic's system, or the instructions of the Responses API."),
};

/** The conversation that an output answers, for the scanners that compare with it. */
export const answeredConversation = {
  messages: z
    .array(message)
    .min(1)
    .nullish()
    .describe("The conversation that the output answers, oldest first, for scanners that compare with it."),
  ...besideMessages,
};

/** A conversation to check. */
export const conversationRequest = z
  .object({
    messages: z.array(message).min(1).describe("The conversation, oldest first."),
    ...besideMessages,
    ...scanFields,
  })
  .describe("A conversation to check.");

/** The fields of an answer that hold the whole conversation as it may be sent on. */
export const sanitizedConversation = {
  sanitized_messages: z
    .array(message)
    .optional()
    .describe("With details: all messages as they may be sent on, as the scanners rewrote them."),
  sanitized_tools: z.array(z.looseObject({})).optional().describe("With details: the tools as they may be sent on."),
  sanitized_system: z
    .union([z.string(), z.array(messagePart)])
    .optional()
    .describe("With details: the system prompt beside the messages, as it may be sent on."),
};

/** The answer of `POST /analyze/conversation`. */
export const conversationResult = z
  .object({
    sanitized_prompt: z.string().describe("The latest user message, as the scanners rewrote it."),
    ...sanitizedConversation,
    ...resultFields,
    ...vaultField,
  })
  .describe("What the scanners say of a conversation, and what they made of its texts.");

/** The examples of the API's description, of scanners Anonymize and BanSubstrings, the latter with the word zebra. */
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
export function chatOf({ messages, tools, system }: Partial<Record<keyof ChatRequest, unknown>>): ChatRequest {
  return { messages, tools, system } as ChatRequest;
}
