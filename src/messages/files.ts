import { decodeFile } from "./media.ts";
import { isProse } from "./names.ts";
import { type At, dataDraft } from "./part.ts";
import type { Keys } from "./reading.ts";

/** A file that stands in a part, or the place where the provider finds it. */
export interface FileInPart {
  /** Base64 or a data URL. */
  data: unknown;
  /** Where `data` stands. */
  keys: Keys;
  mediaType?: unknown;
  /** Names and titles of the file, which were written by whoever wrote the file. */
  names?: readonly { value: unknown; keys: Keys }[];
}

/**
 * Reads a file as data when it is text, and counts it as skipped when it is not, or is not in the request. Its names are read where they
 * could be prose.
 */
export function readFileIn({ data, keys, mediaType, names = [] }: FileInPart, at: At): void {
  const prose = names.filter(({ value }) => typeof value === "string" && isProse(value));
  const file = typeof data === "string" ? decodeFile(data, typeof mediaType === "string" ? mediaType : "") : undefined;
  if (!file) at.into.skipped += 1;
  if (!file && prose.length === 0) return;
  const into = dataDraft(at);
  for (const { value, keys } of prose) into.add(value as string, keys);
  if (file) into.add(file.text, keys, file.encode);
}

/** Reads what is behind a URL when it is a data URL, and counts it as skipped when it is elsewhere. */
export function readUrl(url: unknown, keys: Keys, at: At): void {
  const isHere = typeof url === "string" && /^data:/i.test(url);
  readFileIn({ data: isHere ? url : undefined, keys }, at);
}
