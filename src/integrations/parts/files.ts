import { decodeFile } from "../../messages/media.ts";
import type { ContentPart } from "../../scan/chat-request.ts";

/** A part that cannot be read, such as an image. Its bytes stay here, since no scanner would look at them. */
export function unreadPart(filename?: string): ContentPart {
  return { type: "file", file: filename === undefined ? {} : { filename } };
}

/** A part with a file: with its text where its type says that it is one, and otherwise only with its name. */
export function filePart(data: string | Uint8Array, mediaType: string, filename?: string): ContentPart {
  if (!isText(mediaType)) return unreadPart(filename);
  const base64 = typeof data === "string" ? data : Buffer.from(data).toString("base64");
  const file = { file_data: `data:${mediaType};base64,${base64}`, ...(filename !== undefined && { filename }) };
  return { type: "file", file };
}

/** The base64 of a file that {@link filePart} made, as guard left it; undefined where the file was not read. */
export function base64Of({ file }: ContentPart): string | undefined {
  const data = (file as { file_data?: unknown } | undefined)?.file_data;
  return typeof data === "string" ? data.slice(data.indexOf(",") + 1) : undefined;
}

function isText(mediaType: string): boolean {
  return decodeFile("", mediaType) !== undefined;
}
