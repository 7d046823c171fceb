import type { ChatRequest, Message } from "../../scan/chat-request.ts";
import { invalidRequest } from "../errors.ts";
import type { Format, Json, RequestParts } from "../format.ts";
import { parseNames } from "../slots.ts";
import { openaiErrors } from "./openai-errors.ts";
import { createMessageItem, createResponse } from "./openai-responses-events.ts";
import { readResponseParts } from "./openai-responses-parts.ts";
import { ResponseStream } from "./openai-responses-stream.ts";

const FIELDS = parseNames("input instructions tools");

/** OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses). */
export const openaiResponses: Format = {
  name: "OpenAI responses",
  path: /\/responses$/,
  storedPath: /\/responses\/[^/]+(?:\/cancel)?$/,
  errors: openaiErrors,
  fields: FIELDS,
  readRequest,
  readAnswer: readResponseParts,
  guardStream: (call, request) => new ResponseStream(call, request),
  blockedReply: {
    body: (text, request, answer) => ({
      ...createResponse(request, answer),
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
      output: [createMessageItem(text)],
    }),
  },
};

/** Token counts of requests. The answer has no text. */
export const openaiTokenCount: Format = {
  name: "OpenAI token counts",
  path: /\/responses\/input_tokens$/,
  errors: openaiErrors,
  fields: FIELDS,
  readRequest,
};

function readRequest(body: Json): RequestParts {
  const { input, instructions, tools } = body;
  const isText = typeof input === "string";
  if (input !== undefined && input !== null && !isText && !Array.isArray(input)) {
    throw invalidRequest("input", "expected a text or a list of items");
  }
  const given = {
    // Without an input, there may still be a stored prompt, instructions and tools.
    messages: isText ? [{ role: "user", content: input }] : ((input ?? []) as Message[]),
    ...(tools !== undefined && { tools }),
    ...(instructions !== undefined && { system: instructions }),
  } as ChatRequest;
  return {
    chat: {
      request: given,
      set({ messages, tools, system }) {
        if (isText) body.input = messages[0]?.content;
        else if (input) body.input = messages;
        if ("tools" in given) body.tools = tools;
        if ("system" in given) body.instructions = system;
      },
    },
  };
}
