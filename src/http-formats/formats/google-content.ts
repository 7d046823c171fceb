import { isFieldText } from "../../messages/text-checks.ts";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { isRecord } from "../../support/is-record.ts";
import { invalidRequest } from "../errors.ts";
import type { Format, Json, RequestParts, TextSlot } from "../format.ts";
import { SSE_TYPE } from "../framing.ts";
import { findSlots, findSlotsAt, getRecords, parseNames } from "../slots.ts";
import { googleErrors } from "./google-errors.ts";
import { readBodyExtras, readCandidateParts, readCandidates } from "./google-parts.ts";
import { BLOCKED, GoogleStream } from "./google-stream.ts";

const FIELDS = parseNames("contents tools");

/** Models in the paths of the Gemini API and of Vertex AI, where tuned models have endpoints. */
const methodPath = (methods: string) => new RegExp(`/(?:models|tunedModels|endpoints)/[^/]+:(?:${methods})$`);

/** Google's Gemini: https://ai.google.dev/api/generate-content. */
export const googleContent: Format = {
  name: "Google Gemini",
  path: methodPath("generateContent|streamGenerateContent"),
  errors: googleErrors,
  fields: FIELDS,
  readRequest,
  readAnswer: (body) => [...readCandidates(body).flatMap(readCandidateParts), readBodyExtras(body)],
  streamType({ pathname, search }) {
    if (!/:streamGenerateContent\/*$/.test(pathname)) return;
    // The name of a system parameter may begin with a dollar sign: https://cloud.google.com/apis/docs/system-parameters.
    const params = new URLSearchParams(search);
    return [params.get("alt"), params.get("$alt")].includes("sse") ? SSE_TYPE : "application/json";
  },
  guardStream: (call, request) => new GoogleStream(call, request),
  blockedReply: {
    body: (text, _request, answer) => ({
      ...answer,
      candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason: BLOCKED }],
    }),
  },
};

/** Token counts of requests that are not sent to a model (https://ai.google.dev/api/tokens). The answer has no text. */
export const googleTokenCount: Format = {
  name: "Google token counts",
  path: methodPath("countTokens"),
  errors: googleErrors,
  fields: FIELDS,
  findRequest(body) {
    const key = ["generateContentRequest", "generate_content_request"].find((key) => isRecord(body[key]));
    if (key === undefined) return body;
    if (Object.keys(body).length > 1) throw invalidRequest(key, "expected no other fields beside it");
    return body[key] as Json;
  },
  readRequest,
};

/** Embeddings: https://ai.google.dev/api/embeddings. The answer has no text. */
export const googleEmbeddings: Format = {
  name: "Google embeddings",
  path: methodPath("embedContent|batchEmbedContents"),
  errors: googleErrors,
  fields: parseNames("content requests"),
  readRequest: (body) => ({
    texts: [
      ...getRecords(body, "requests").map((request) => ({ source: "user" as const, slots: readEmbedded(request) })),
      { source: "user", slots: findSlotsAt(body, "content", FILES) },
    ],
  }),
};

/** Fields of a part with a file or its address. */
const FILES = parseNames("inlineData inline_data fileData file_data");

/** Reads a request of a batch: its content, and the title of its document. */
function readEmbedded(request: Json): TextSlot[] {
  const others = findSlots(request, FILES, new Set(["content"]));
  return [...others.filter(({ text }) => isFieldText(text)), ...findSlotsAt(request, "content", FILES)];
}

/** Fields with a list, in place of which Google accepts its only item. */
const LISTS = { contents: "messages", tools: "tools" } as const;

function readRequest(body: Json): RequestParts {
  const given: Record<string, unknown> = { messages: [] };
  for (const [key, name] of Object.entries(LISTS)) {
    const value = body[key];
    if (value !== undefined && value !== null) given[name] = isRecord(value) ? [value] : value;
  }
  return {
    chat: {
      request: given as unknown as ChatRequest,
      set(request) {
        for (const [key, name] of Object.entries(LISTS)) {
          const value = body[key];
          if (value !== undefined && value !== null) body[key] = isRecord(value) ? request[name]?.[0] : request[name];
        }
      },
    },
  };
}
