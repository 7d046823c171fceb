import { isRecord } from "../support/is-record.ts";
import { invalidAt, type PartContext } from "./part-reader.ts";
import { MAX_VALUE_DEPTH } from "./request-reader.ts";

/** Keys of parts and items without text: ids, types, states, and values that only the provider can decrypt. */
export const NON_TEXT_KEYS = new Set(
  "id call_id tool_call_id tool_use_id toolUseId approval_request_id caller_id file_id container_id item_id type role status phase"
    .split(" ")
    .concat(
      "cache_control prompt_cache_breakpoint signature fingerprint encrypted_content encrypted_index encrypted_stdout media_type mimeType".split(
        " ",
      ),
    ),
);

/** A longer string without white space is not text. It may be an image. */
const MAX_WORD_LENGTH = 1000;

/**
 * Reads all strings of a value with unknown fields, except ids and the like. Its parts of known types are read by their readers. Strings
 * that look like an image or another file count as skipped.
 *
 * @param isRead selects the strings.
 */
export function readAllStrings(
  value: unknown,
  context: PartContext,
  isRead: (value: string) => boolean = () => true,
): void {
  const walk = (value: unknown, key: string | number | undefined, context: PartContext, levels: number): void => {
    if (levels > MAX_VALUE_DEPTH)
      throw invalidAt(
        context.keys.slice(0, -levels),
        `expected no more than ${MAX_VALUE_DEPTH} levels of objects and arrays`,
      );
    if (typeof value === "string") {
      const isWord = !/\s/.test(value);
      if (isWord && typeof key === "string" && NON_TEXT_KEYS.has(key)) return;
      if (isWord && value.length > MAX_WORD_LENGTH && /^[\w+/=:;,.-]+$/.test(value)) context.draft.skipped += 1;
      else if (value !== "" && isRead(value)) context.draft.add(value, context.keys);
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        walk(item, index, { ...context, keys: [...context.keys, index] }, levels + 1);
    } else if (levels > 0 && context.isKnownPart(value)) {
      context.readPart(value, { ...context, depth: context.depth + 1 });
    } else if (isRecord(value)) {
      for (const [name, item] of Object.entries(value)) {
        const keys = [...context.keys, name];
        context.draft.addKey(name, keys);
        walk(item, name, { ...context, keys }, levels + 1);
      }
    }
  };
  walk(value, undefined, context, 0);
}
