import { mayBeText } from "../../messages/media.ts";
import type { ContentPart } from "../../scan/chat-request.ts";

/** A part without text, such as an image. Its data is left out, since no scanner reads it. */
export function opaquePart(filename?: string): ContentPart {
  return { type: "file", file: filename === undefined ? {} : { filename } };
}

/** A part with a file: with its data if its type is text, otherwise with its name only. */
export function filePart(data: string | Uint8Array, mediaType: string, filename?: string): ContentPart {
  if (!mayBeText(mediaType)) return opaquePart(filename);
  const base64 = typeof data === "string" ? data : Buffer.from(data).toString("base64");
  const file = { file_data: `data:${mediaType};base64,${base64}`, ...(filename !== undefined && { filename }) };
  return { type: "file", file };
}

/** The base64 data of a checked {@link filePart}; undefined if it has no data. */
export function base64Of({ file }: ContentPart): string | undefined {
  const data = (file as { file_data?: unknown } | undefined)?.file_data;
  return typeof data === "string" ? data.slice(data.indexOf(",") + 1) : undefined;
}
