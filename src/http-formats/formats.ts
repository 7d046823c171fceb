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

/**
 * The format of a request, by the path of its URL; undefined where none is known.
 *
 * @param hasBody whether the request has a body. Without one it fetches an answer that was given before.
 */
export function formatOf(path: string, hasBody = true): Format | undefined {
  const trimmed = path.replace(/\/+$/, "");
  return FORMATS.find(({ path, stored }) => (hasBody ? path : stored)?.test(trimmed));
}
