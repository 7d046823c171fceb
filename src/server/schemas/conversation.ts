import { z } from "zod";
import { ROLES } from "../../messages.ts";
import { scanFields } from "./scan.ts";

/** A part of a message's content. */
export const messagePart = z
  .looseObject({
    type: z.string().describe("text, tool_result, image_url, ...; text and tool_result are read."),
    text: z.string().nullish(),
  })
  .describe("A part of a message.");

/** A message of a chat. */
export const message = z
  .looseObject({
    role: z.enum(ROLES).describe("Who wrote it."),
    content: z
      .union([z.string(), z.null(), z.array(z.union([z.string(), messagePart]))])
      .optional()
      .describe("Text, or parts, of which text and tool_result are read."),
  })
  .describe("A message, in OpenAI's or Anthropic's format.");

/** A conversation to check. */
export const conversationRequest = z
  .object({
    messages: z.array(message).min(1).describe("The conversation, oldest first, in OpenAI's or Anthropic's format."),
    ...scanFields,
  })
  .describe("A conversation to check.");

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
