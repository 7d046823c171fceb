import type { Format } from "./format.ts";
import { openaiChat } from "./formats/openai-chat.ts";

/** The formats that are read. */
export const FORMATS: readonly Format[] = [openaiChat];

/** The format of the requests to a path of a URL; undefined where none is known. */
export function formatOf(path: string): Format | undefined {
  const trimmed = path.replace(/\/+$/, "");
  return FORMATS.find((format) => format.path.test(trimmed));
}
