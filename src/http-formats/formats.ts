import type { Format } from "./format.ts";
import { anthropicMessages, anthropicTokenCount } from "./formats/anthropic-messages.ts";
import { googleContent, googleEmbeddings, googleTokenCount } from "./formats/google-content.ts";
import { openaiChat } from "./formats/openai-chat.ts";
import { openaiCompletions } from "./formats/openai-completions.ts";
import { openaiResponses, openaiTokenCount } from "./formats/openai-responses.ts";
import {
  openaiEmbeddings,
  openaiImageEdits,
  openaiImages,
  openaiModerations,
  openaiSpeech,
} from "./formats/openai-texts.ts";
import { openaiTranscripts } from "./formats/openai-transcripts.ts";

/** All formats. The first one that matches a path is used. */
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
  googleContent,
  googleTokenCount,
  googleEmbeddings,
];

/**
 * Finds the format of a request by its URL path.
 *
 * @param hasBody whether the request has a body. Without a body, it fetches a stored answer.
 */
export function findFormat(path: string, hasBody = true): Format | undefined {
  const trimmed = path.replace(/\/+$/, "");
  return FORMATS.find(({ path, storedPath }) => (hasBody ? path : storedPath)?.test(trimmed));
}
