import type { Format } from "./format.ts";
import { anthropicMessages, anthropicTokenCount } from "./formats/anthropic-messages.ts";
import { openaiChat } from "./formats/openai-chat.ts";
import { openaiCompletions } from "./formats/openai-completions.ts";
import { openaiResponses, openaiTokenCount } from "./formats/openai-responses.ts";
import {
  openaiEmbeddings,
  openaiImageEdits,
  openaiImages,
  openaiModerations,
  openaiSpeech,
  openaiTranscripts,
} from "./formats/openai-texts.ts";

/** The formats that are read. The first one that fits a path is that of the path. */
export const FORMATS: readonly Format[] = [
  openaiChat,
  openaiCompletions,
  openaiResponses,
  openaiTokenCount,
  openaiEmbeddings,
  openaiModerations,
  openaiTranscripts,
  openaiSpeech,
  openaiImages,
  openaiImageEdits,
  anthropicMessages,
  anthropicTokenCount,
];

/** The format of the requests to a path of a URL; undefined where none is known. */
export function formatOf(path: string): Format | undefined {
  const trimmed = path.replace(/\/+$/, "");
  return FORMATS.find((format) => format.path.test(trimmed));
}
