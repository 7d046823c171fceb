import { isRecord } from "../../support/is-record.ts";
import type { Format, FormatOptions, Json, TextSlot } from "../format.ts";
import { findSlots, findUnknownTexts, getRecords, parseNames, slotAt, textAt } from "../slots.ts";
import { readTexts } from "./openai-completions.ts";
import { openaiErrors } from "./openai-errors.ts";
import { ResponseStream } from "./openai-responses-stream.ts";

/** OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings. The answer has no text. */
export const openaiEmbeddings: Format = {
  name: "OpenAI embeddings",
  path: /\/embeddings$/,
  errors: openaiErrors,
  fields: parseNames("input"),
  readRequest: (body, options) => ({ texts: [{ source: "user", slots: readTexts(body, "input", options) }] }),
};

/** OpenAI's moderations (https://platform.openai.com/docs/api-reference/moderations): texts, or parts with texts and images. */
export const openaiModerations: Format = {
  name: "OpenAI moderations",
  path: /\/moderations$/,
  errors: openaiErrors,
  fields: parseNames("input"),
  readRequest: (body, options) => ({ texts: [{ source: "user", slots: readModerationInput(body, options) }] }),
};

function readModerationInput(body: Json, options: FormatOptions): TextSlot[] {
  const { input } = body;
  const hasParts = Array.isArray(input) && input.every(isRecord);
  return hasParts
    ? getRecords(body, "input").flatMap((part) => slotAt(part, "text"))
    : readTexts(body, "input", options);
}

/** OpenAI's text to speech: https://platform.openai.com/docs/api-reference/audio/createSpeech. The audio is not checked. */
export const openaiSpeech: Format = {
  name: "OpenAI speech",
  path: /\/audio\/speech$/,
  errors: openaiErrors,
  fields: parseNames("input instructions"),
  readRequest: (body) => ({
    texts: [
      { source: "user", slots: textAt(body, "instructions") },
      { source: "user", slots: textAt(body, "input") },
    ],
  }),
};

/** Fields of an image with its bytes or its address. */
const IMAGE_BYTES: ReadonlySet<string> = new Set(["b64_json", "url"]);

/** OpenAI's image generation: https://platform.openai.com/docs/api-reference/images/create. The images are not checked. */
export const openaiImages: Format = {
  name: "OpenAI images",
  path: /\/images\/generations$/,
  errors: openaiErrors,
  fields: parseNames("prompt"),
  readRequest: (body) => ({ texts: [{ source: "user", slots: textAt(body, "prompt") }] }),
  readAnswer: (body) => [
    ...getRecords(body, "data").map((image) => ({ texts: findSlots(image, IMAGE_BYTES), separator: "\n" })),
    { texts: findUnknownTexts(body, new Set(["data", "error"])), separator: "\n" },
  ],
  guardStream: (call, request) => new ResponseStream(call, request),
};

/** OpenAI's image edits: https://platform.openai.com/docs/api-reference/images/createEdit. The images are not checked. */
export const openaiImageEdits: Format = {
  ...openaiImages,
  name: "OpenAI image edits",
  path: /\/images\/edits$/,
  formFields: ["prompt"],
};
