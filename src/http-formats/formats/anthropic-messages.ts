import type { ChatRequest } from "../../scan/chat-request.ts";
import type { Format, Json, RequestParts } from "../format.ts";
import { assertMessages, parseNames } from "../slots.ts";
import { anthropicErrors } from "./anthropic-errors.ts";
import { readAnswerParts } from "./anthropic-parts.ts";
import { AnthropicStream } from "./anthropic-stream.ts";

const FIELDS = parseNames("messages tools system");

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages. */
export const anthropicMessages: Format = {
  name: "Anthropic messages",
  // Messages of threads belong to OpenAI's API and have another format.
  path: /(?<!\/threads\/[^/]+)\/messages$/,
  errors: anthropicErrors,
  fields: FIELDS,
  readRequest,
  readAnswer: readAnswerParts,
  guardStream: (call, request) => new AnthropicStream(call, request),
  blockedReply: {
    body: (text, request, answer) => ({
      id: "msg_guard",
      type: "message",
      role: "assistant",
      model: request.model,
      usage: { input_tokens: 0, output_tokens: 0 },
      ...answer,
      content: [{ type: "text", text }],
      stop_reason: "refusal",
      stop_sequence: null,
    }),
  },
};

/** Token counts of messages that are not sent to a model. The answer has no text. */
export const anthropicTokenCount: Format = {
  name: "Anthropic token counts",
  path: /\/messages\/count_tokens$/,
  errors: anthropicErrors,
  fields: FIELDS,
  readRequest,
};

function readRequest(body: Json): RequestParts {
  const { messages, tools, system } = body;
  assertMessages(messages);
  const given = {
    messages,
    ...(tools !== undefined && { tools }),
    ...(system !== undefined && { system }),
  } as ChatRequest;
  return {
    chat: {
      request: given,
      set(request) {
        for (const key of Object.keys(given) as (keyof ChatRequest)[]) body[key] = request[key];
      },
    },
  };
}
