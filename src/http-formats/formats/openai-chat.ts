import type { ChatRequest } from "../../scan/chat-request.ts";
import { upstreamError } from "../errors.ts";
import type { Format, Json, RequestParts } from "../format.ts";
import { findDescriptions, findSlots, getRecord, parseNames } from "../slots.ts";
import { clearLogprobs, findExtraTexts, readChoices, readMessageParts } from "./openai-chat-parts.ts";
import { ChatStream } from "./openai-chat-stream.ts";
import { openaiErrors } from "./openai-errors.ts";

/** OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat), which many other providers support. */
export const openaiChat: Format = {
  name: "OpenAI chat completions",
  path: /\/chat\/completions$/,
  storedPath: /\/chat\/completions\/[^/]+$/,
  errors: openaiErrors,
  knownFields: parseNames(
    "messages tools functions prediction response_format model models provider stream stream_options user metadata stop n seed",
    "audio function_call logit_bias logprobs top_logprobs modalities moderation parallel_tool_calls prompt_cache_key",
    "prompt_cache_retention reasoning reasoning_effort safety_identifier service_tier store tool_choice verbosity web_search_options",
  ),
  readRequest,
  readAnswer(body) {
    const all = readChoices(body);
    const messages = all.flatMap((choice) => {
      const message = getRecord(choice, "message");
      // A filtered choice has no message.
      if (!message && choice.message != null) throw upstreamError("The message of a choice is not an object.");
      return message ? readMessageParts(message, () => clearLogprobs(choice)) : [];
    });
    return [...messages, { texts: findExtraTexts(body, all), separator: "\n" }];
  },
  guardStream: (call, request) => new ChatStream(call, request),
  blockedReply: {
    body(text, request, answer) {
      return {
        id: "chatcmpl-guard",
        object: "chat.completion",
        created: Math.floor(Date.now() / 1000),
        model: request.model,
        ...answer,
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: text, refusal: null },
            logprobs: null,
            finish_reason: "content_filter",
          },
        ],
      };
    },
  },
};

/** Reads messages, tools and the texts beside them. */
function readRequest(body: Json): RequestParts {
  const { messages, tools, functions } = body;
  const lists = { tools, functions };
  const all = Object.values(lists).flatMap((list) => (Array.isArray(list) ? list : []));
  const format = getRecord(body, "response_format");
  const prediction = getRecord(body, "prediction");
  return {
    texts: [
      { source: "tool_definition", slots: findDescriptions(format?.json_schema) },
      { source: "user", slots: prediction ? findSlots(prediction) : [] },
    ],
    chat: {
      request: {
        messages: messages as ChatRequest["messages"],
        ...(all.length > 0 && { tools: all }),
      },
      set(request) {
        body.messages = request.messages;
        let start = 0;
        for (const [key, list] of Object.entries(lists)) {
          if (!Array.isArray(list)) continue;
          body[key] = (request.tools ?? []).slice(start, start + list.length);
          start += list.length;
        }
      },
    },
  };
}
