import type { ChatRequest, Message } from "../../scan/chat-request.ts";
import type { Format, Json, RequestParts } from "../format.ts";
import { descriptions, names, recordAt, slotsIn } from "../slots.ts";
import { openaiErrors } from "./openai-errors.ts";
import { messageItem, responseLike } from "./openai-responses-events.ts";
import { partsOfResponse } from "./openai-responses-parts.ts";
import { ResponseEvents } from "./openai-responses-stream.ts";

const FIELDS = names(
  "input instructions tools text model models provider stream stream_options user metadata background conversation",
  "include moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning",
  "safety_identifier service_tier store tool_choice truncation",
);

/** OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses). */
export const openaiResponses: Format = {
  name: "OpenAI responses",
  path: /\/responses$/,
  stored: /\/responses\/[^/]+(?:\/cancel)?$/,
  errors: openaiErrors,
  fields: FIELDS,
  request: readRequest,
  answer: partsOfResponse,
  stream: (call, request) => new ResponseEvents(call, request),
  blocked: {
    body: (text, request, answer) => ({
      ...responseLike(request, answer),
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
      output: [messageItem(text)],
    }),
  },
};

/** Counts the tokens of a request. The answer is a number. */
export const openaiTokenCount: Format = {
  name: "OpenAI token counts",
  path: /\/responses\/input_tokens$/,
  errors: openaiErrors,
  fields: FIELDS,
  request: readRequest,
};

function readRequest(body: Json): RequestParts {
  const { input, instructions, tools } = body;
  const format = recordAt(recordAt(body, "text") ?? {}, "format");
  const prompt = recordAt(body, "prompt");
  const isList = Array.isArray(input) && input.length > 0;
  const given = {
    // Without an input there are still instructions and tools to judge.
    messages: isList ? (input as Message[]) : [{ role: "user", content: typeof input === "string" ? input : "" }],
    ...(tools !== undefined && { tools }),
    ...(instructions !== undefined && { system: instructions }),
  } as ChatRequest;
  return {
    texts: [
      { source: "tool_definition", slots: descriptions(format) },
      { source: "user", slots: slotsIn(prompt?.variables) },
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
