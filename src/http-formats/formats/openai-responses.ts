import type { ChatRequest, Message } from "../../scan/chat-request.ts";
import type { Format, Json, RequestParts } from "../format.ts";
import { findDescriptions, findSlots, getRecord, parseNames } from "../slots.ts";
import { openaiErrors } from "./openai-errors.ts";
import { createMessageItem, createResponse } from "./openai-responses-events.ts";
import { readResponseParts } from "./openai-responses-parts.ts";
import { ResponseStream } from "./openai-responses-stream.ts";

const FIELDS = parseNames(
  "input instructions tools text model models provider stream stream_options user metadata background conversation",
  "include moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning",
  "safety_identifier service_tier store tool_choice truncation",
);

/** OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses). */
export const openaiResponses: Format = {
  name: "OpenAI responses",
  path: /\/responses$/,
  storedPath: /\/responses\/[^/]+(?:\/cancel)?$/,
  errors: openaiErrors,
  knownFields: FIELDS,
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
  knownFields: FIELDS,
  readRequest,
};

function readRequest(body: Json): RequestParts {
  const { input, instructions, tools } = body;
  const format = getRecord(getRecord(body, "text") ?? {}, "format");
  const prompt = getRecord(body, "prompt");
  const isList = Array.isArray(input) && input.length > 0;
  const given = {
    // Without an input, there may still be instructions and tools to check.
    messages: isList ? (input as Message[]) : [{ role: "user", content: typeof input === "string" ? input : "" }],
    ...(tools !== undefined && { tools }),
    ...(instructions !== undefined && { system: instructions }),
  } as ChatRequest;
  return {
    texts: [
      { source: "tool_definition", slots: findDescriptions(format) },
      { source: "user", slots: findSlots(prompt?.variables) },
    ],
    chat: {
      request: given,
      set({ messages, tools, system }) {
        if (isList) body.input = messages;
        else if (typeof input === "string") body.input = messages[0]?.content;
        if ("tools" in given) body.tools = tools;
        if ("system" in given) body.instructions = system;
      },
    },
  };
}
