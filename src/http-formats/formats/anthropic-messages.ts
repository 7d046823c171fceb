import type { ChatRequest } from "../../scan/chat-request.ts";
import type { Format, Json, RequestParts } from "../format.ts";
import { descriptions, names, recordAt } from "../slots.ts";
import { anthropicErrors } from "./anthropic-errors.ts";
import { partsOfAnswer } from "./anthropic-parts.ts";
import { AnthropicStream } from "./anthropic-stream.ts";

const FIELDS = names(
  "messages tools system model stream metadata stop_sequences thinking tool_choice service_tier container mcp_servers",
  "output_config output_format betas cache_control inference_geo speed",
);

/** Anthropic's messages (https://docs.anthropic.com/en/api/messages). */
export const anthropicMessages: Format = {
  name: "Anthropic messages",
  // Messages of threads are OpenAI's, and have another shape.
  path: /(?<!\/threads\/[^/]+)\/messages$/,
  errors: anthropicErrors,
  fields: FIELDS,
  request: readRequest,
  answer: partsOfAnswer,
  stream: (call, request) => new AnthropicStream(call, request),
  blocked: {
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

/** Counts the tokens of a message that is not sent to a model. The answer is a number. */
export const anthropicTokenCount: Format = {
  name: "Anthropic token counts",
  path: /\/messages\/count_tokens$/,
  errors: anthropicErrors,
  fields: FIELDS,
  request: readRequest,
};

function readRequest(body: Json): RequestParts {
  const { messages, tools, system } = body;
  const format = recordAt(recordAt(body, "output_config") ?? body, "format") ?? recordAt(body, "output_format");
  const given = {
    messages,
    ...(tools !== undefined && { tools }),
    ...(system !== undefined && { system }),
  } as ChatRequest;
  return {
    texts: [{ source: "tool_definition", slots: descriptions(format) }],
    chat: {
      request: given,
      set(request) {
        for (const key of Object.keys(given) as (keyof ChatRequest)[]) body[key] = request[key];
      },
    },
  };
}
