import { isRecord } from "../support/is-record.ts";
import { readCitations } from "./citations.ts";
import { readFileIn, readUrl } from "./files.ts";
import { readLoosely } from "./loose.ts";
import { type PartReader, skip, textAt } from "./part.ts";

const readText: PartReader = (part, at) => {
  textAt("text")(part, at);
  readCitations(part, at);
};

/** `image_url` is a URL (Responses API) or an object with one (chat). */
const readImageUrl: PartReader = (part, at) => {
  const image = part.image_url;
  if (isRecord(image)) readUrl(image.url, [...at.keys, "image_url", "url"], at);
  else readUrl(image, [...at.keys, "image_url"], at);
};

/** Sound cannot be read, but some APIs send along what was said. */
const readSound: PartReader = (part, at) => {
  at.into.skipped += 1;
  if (typeof part.transcript === "string") at.into.add(part.transcript, [...at.keys, "transcript"]);
};

/** `{ type: "file", file: { file_data, filename, file_id } }` */
const readChatFile: PartReader = (part, at) => {
  const file = isRecord(part.file) ? part.file : {};
  const keys = [...at.keys, "file"];
  readFileIn(
    {
      data: file.file_data,
      keys: [...keys, "file_data"],
      names: [{ value: file.filename, keys: [...keys, "filename"] }],
    },
    at,
  );
};

/** `{ type: "input_file", file_data, filename, file_id, file_url }` */
const readInputFile: PartReader = (part, at) => {
  const names = [{ value: part.filename, keys: [...at.keys, "filename"] }];
  if (typeof part.file_data === "string") {
    readFileIn({ data: part.file_data, keys: [...at.keys, "file_data"], names }, at);
  } else {
    const isHere = typeof part.file_url === "string" && /^data:/i.test(part.file_url);
    readFileIn({ data: isHere ? part.file_url : undefined, keys: [...at.keys, "file_url"], names }, at);
  }
};

/** Reasoning inside the content of a message: a text, or an item of the Responses API with `summary` and `content`. */
const readReasoning: PartReader = (part, at) => readLoosely(part, at);

/** The parts of OpenAI's chat completions and of its Responses API. */
export const openaiParts: Readonly<Record<string, PartReader>> = {
  text: readText,
  input_text: readText,
  output_text: readText,
  summary_text: textAt("text"),
  reasoning_text: textAt("text"),
  refusal: textAt("refusal"),
  reasoning: readReasoning,
  image_url: readImageUrl,
  input_image: readImageUrl,
  computer_screenshot: readImageUrl,
  image_file: skip,
  input_audio: readSound,
  output_audio: readSound,
  file: readChatFile,
  input_file: readInputFile,
};
