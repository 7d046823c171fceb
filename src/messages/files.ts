import { decodeFile } from "./media.ts";
import { openDataDraft, type PartContext } from "./part-reader.ts";
import type { KeyPath } from "./request-reader.ts";
import { isProse } from "./text-checks.ts";

/** A file in a part, which contains the data or refers to it. */
export interface PartFile {
  /** Base64 or a data URL. */
  data: unknown;
  /** The path of `data`. */
  keys: KeyPath;
  mediaType?: unknown;
  /** Names and titles of the file, which its author chose. */
  names?: readonly { value: unknown; keys: KeyPath }[];
}

/** Reads a file that is text. Other files, and files outside the request, count as skipped. Its names are read if they may be prose. */
export function readPartFile({ data, keys, mediaType, names = [] }: PartFile, context: PartContext): void {
  const prose = names.filter(({ value }) => typeof value === "string" && isProse(value));
  const file = typeof data === "string" ? decodeFile(data, typeof mediaType === "string" ? mediaType : "") : undefined;
  if (!file || file.isPartial) context.draft.skipped += 1;
  if (!file && prose.length === 0) return;
  const draft = openDataDraft(context);
  for (const { value, keys } of prose) draft.add(value as string, keys);
  for (const { text, encode } of file?.readings ?? []) draft.add(text, keys, encode);
}

/** Reads the file in a data URL. Any other URL counts as skipped. */
export function readUrl(url: unknown, keys: KeyPath, context: PartContext, names: PartFile["names"] = []): void {
  const isDataUrl = typeof url === "string" && /^data:/i.test(url);
  readPartFile({ data: isDataUrl ? url : undefined, keys, names }, context);
}
