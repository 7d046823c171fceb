import { isRecord } from "../support/is-record.ts";
import { readAllStrings } from "./all-strings.ts";
import { readCitations } from "./citations.ts";
import { readPartFile, readUrl } from "./files.ts";
import { addStrings, type PartReader, skip, stringAt, textField } from "./part-reader.ts";

const readText: PartReader = (part, context) => {
  textField("text")(part, context);
  readCitations(part, context);
};

/** `image_url` is a URL (Responses API) or an object with one (chat). */
const readImageUrl: PartReader = (part, context) => {
  const image = part.image_url;
  if (isRecord(image)) readUrl(image.url, [...context.keys, "image_url", "url"], context);
  else readUrl(image, [...context.keys, "image_url"], context);
};

/** Audio cannot be read, but some APIs add a transcript. */
const readAudio: PartReader = (part, context) => {
  context.draft.skipped += 1;
  addStrings(context.draft, part, ["transcript"], context.keys);
};

/** `{ type: "file", file: { file_data, filename, file_id } }` */
const readChatFile: PartReader = (part, context) => {
  const file = isRecord(part.file) ? part.file : {};
  const keys = [...context.keys, "file"];
  readPartFile(
    {
      data: file.file_data,
      keys: [...keys, "file_data"],
      names: [{ value: stringAt(file, "filename", keys), keys: [...keys, "filename"] }],
    },
    context,
  );
};

/** `{ type: "input_file", file_data, filename, file_id, file_url }` */
const readInputFile: PartReader = (part, context) => {
  const names = [{ value: stringAt(part, "filename", context.keys), keys: [...context.keys, "filename"] }];
  if (typeof part.file_data === "string") {
    readPartFile({ data: part.file_data, keys: [...context.keys, "file_data"], names }, context);
  } else readUrl(part.file_url, [...context.keys, "file_url"], context, names);
};

/** Reasoning inside the content of a message: a text, or an item of the Responses API with `summary` and `content`. */
const readReasoning: PartReader = (part, context) => {
  if (part.encrypted_content) context.draft.skipped += 1;
  readAllStrings(part, context);
};

/** The parts of OpenAI's chat completions and of its Responses API. */
export const openaiParts: Readonly<Record<string, PartReader>> = {
  text: readText,
  input_text: readText,
  output_text: readText,
  summary_text: textField("text"),
  reasoning_text: textField("text"),
  refusal: textField("refusal"),
  reasoning: readReasoning,
  image_url: readImageUrl,
  input_image: readImageUrl,
  computer_screenshot: readImageUrl,
  image_file: skip,
  input_audio: readAudio,
  output_audio: readAudio,
  file: readChatFile,
  input_file: readInputFile,
};
