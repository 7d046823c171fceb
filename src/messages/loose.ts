import { isRecord } from "../support/is-record.ts";
import { type At, fault } from "./part.ts";
import { DEEPEST_VALUE } from "./reading.ts";

/** Keys of parts and items whose strings are no text: ids, types, states, and what only the provider can decrypt. */
export const NO_TEXT = new Set(
  "id call_id tool_call_id tool_use_id toolUseId approval_request_id caller_id file_id container_id item_id type role status phase"
    .split(" ")
    .concat(
      "cache_control prompt_cache_breakpoint signature fingerprint encrypted_content encrypted_index encrypted_stdout media_type mimeType".split(
        " ",
      ),
    ),
);

/** A string of this length without white space is no text that anybody wrote. It could be an image. */
const LONGEST_WORD = 1000;

/**
 * Reads all strings of a part or item whose fields are not known one by one, except ids and the like. A part of a known type inside it
 * is read as that. Strings that look like an image or another file count as skipped.
 *
 * @param isRead decides which strings are left out.
 */
export function readLoosely(value: unknown, at: At, isRead: (value: string) => boolean = () => true): void {
  const walk = (value: unknown, key: string | number | undefined, at: At, levels: number): void => {
    if (levels > DEEPEST_VALUE)
      throw fault(at.keys.slice(0, -levels), `expected no more than ${DEEPEST_VALUE} levels of objects and arrays`);
    if (typeof value === "string") {
      const isWord = !/\s/.test(value);
      if (isWord && typeof key === "string" && NO_TEXT.has(key)) return;
      if (isWord && value.length > LONGEST_WORD && /^[\w+/=:;,.-]+$/.test(value)) at.into.skipped += 1;
      else if (value !== "" && isRead(value)) at.into.add(value, at.keys);
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) walk(item, index, { ...at, keys: [...at.keys, index] }, levels + 1);
    } else if (levels > 0 && at.isKnown(value)) {
      at.part(value, { ...at, depth: at.depth + 1 });
    } else if (isRecord(value)) {
      for (const [name, item] of Object.entries(value)) {
        const keys = [...at.keys, name];
        at.into.addKey(name, keys);
        walk(item, name, { ...at, keys }, levels + 1);
      }
    }
  };
  walk(value, undefined, at, 0);
}
