import type { ChatRequest } from "../../scan/chat-request.ts";
import { upstreamError } from "../errors.ts";
import type { Format, Json, RequestParts } from "../format.ts";
import { assertMessages, getRecord, parseNames } from "../slots.ts";
import { clearLogprobs, findExtraTexts, readChoices, readMessageParts } from "./openai-chat-parts.ts";
import { ChatStream } from "./openai-chat-stream.ts";
import { openaiErrors } from "./openai-errors.ts";

/** OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat), which many other providers support. */
export const openaiChat: Format = {
  name: "OpenAI chat completions",
  path: /\/chat\/completions$/,
  storedPath: /\/chat\/completions\/[^/]+$/,
  errors: openaiErrors,
  fields: parseNames("messages tools"),
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

function readRequest(body: Json): RequestParts {
  const { messages, tools } = body;
  assertMessages(messages);
  return {
    chat: {
      request: { messages, ...(tools !== undefined && { tools }) } as ChatRequest,
      set(request) {
        body.messages = request.messages;
        if (tools !== undefined) body.tools = request.tools;
      },
    },
  };
}
