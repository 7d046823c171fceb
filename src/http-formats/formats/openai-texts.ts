import { isRecord } from "../../support/is-record.ts";
import type { Format, FormatOptions, Json, TextSlot } from "../format.ts";
import { names, recordsAt, slot, slotsIn } from "../slots.ts";
import { textsAt } from "./openai-completions.ts";
import { openaiErrors } from "./openai-errors.ts";
import { ResponseEvents } from "./openai-responses-stream.ts";

/** OpenAI's embeddings (https://platform.openai.com/docs/api-reference/embeddings). The answer has no text. */
export const openaiEmbeddings: Format = {
  name: "OpenAI embeddings",
  path: /\/embeddings$/,
  errors: openaiErrors,
  fields: names("input model user metadata encoding_format"),
  request: (body, options) => ({ texts: [{ source: "user", slots: textsAt(body, "input", options) }] }),
};

/** OpenAI's moderations (https://platform.openai.com/docs/api-reference/moderations): texts, or parts with texts and images. */
export const openaiModerations: Format = {
  name: "OpenAI moderations",
  path: /\/moderations$/,
  errors: openaiErrors,
  fields: names("input model metadata"),
  request: (body, options) => ({ texts: [{ source: "user", slots: inputs(body, options) }] }),
};

function inputs(body: Json, options: FormatOptions): TextSlot[] {
  const { input } = body;
  const hasParts = Array.isArray(input) && input.every(isRecord);
  return hasParts ? recordsAt(body, "input").flatMap((part) => slot(part, "text")) : textsAt(body, "input", options);
}

/** OpenAI's speech of a text (https://platform.openai.com/docs/api-reference/audio/createSpeech). The sound itself is not checked. */
export const openaiSpeech: Format = {
  name: "OpenAI speech",
  path: /\/audio\/speech$/,
  errors: openaiErrors,
  fields: names("input instructions model voice response_format stream_format"),
  request: (body) => ({
    texts: [
      { source: "user", slots: slot(body, "instructions") },
      { source: "user", slots: slot(body, "input") },
    ],
  }),
};

/** OpenAI's images of a prompt (https://platform.openai.com/docs/api-reference/images/create). The images are not checked. */
export const openaiImages: Format = {
  name: "OpenAI images",
  path: /\/images\/generations$/,
  errors: openaiErrors,
  fields: names("prompt model user stream size quality style background moderation output_format response_format"),
  request: (body) => ({ texts: [{ source: "user", slots: slot(body, "prompt") }] }),
  answer: (body) => recordsAt(body, "data").map((image) => ({ texts: slot(image, "revised_prompt") })),
  stream: (call, request) => new ResponseEvents(call, request),
};

/** OpenAI's changes of images (https://platform.openai.com/docs/api-reference/images/createEdit). The images are not checked. */
export const openaiImageEdits: Format = {
  ...openaiImages,
  name: "OpenAI image edits",
  path: /\/images\/edits$/,
  form: ["prompt"],
};

/** The fields of a transcript whose texts are the whole again, in pieces. */
const PIECES = ["segments", "words"];

/**
 * OpenAI's transcripts and translations of sounds (https://platform.openai.com/docs/api-reference/audio/createTranscription), in each of
 * its forms: JSON, plain text, and subtitles. The sound itself is not checked.
 */
export const openaiTranscripts: Format = {
  name: "OpenAI transcripts",
  path: /\/audio\/(?:transcriptions|translations)$/,
  errors: openaiErrors,
  fields: names("model language response_format chunking_strategy user metadata"),
  form: ["prompt"],
  plainText: true,
  stream: (call, request) => new ResponseEvents(call, request),
  answer: (body) => [
    { texts: slot(body, "text") },
    ...PIECES.map((key) => ({ texts: slotsIn(body[key]), separator: " " })),
  ],
};
