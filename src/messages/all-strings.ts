import { isRecord } from "../support/is-record.ts";
import { invalidAt, type PartContext } from "./part-reader.ts";
import { MAX_VALUE_DEPTH } from "./request-reader.ts";
import { isPhrase } from "./text-checks.ts";

/** Keys of ids. Their values are read if they have many words. */
const ID_KEYS: ReadonlySet<string> = new Set(
  "id call_id tool_call_id tool_use_id toolUseId approval_request_id caller_id file_id container_id item_id".split(" "),
);

/** Keys of types, states, and values that only the provider can decrypt. Their values are read if they have white space. */
const WORD_KEYS: ReadonlySet<string> = new Set(
  "type role status phase cache_control prompt_cache_breakpoint media_type mimeType stop_reason finish_reason model"
    .split(" ")
    .concat("signature fingerprint encrypted_content encrypted_index encrypted_stdout".split(" ")),
);

/** Whether a value at a key of parts and items is for programs, not for a model: an id, a type, a state, or an encrypted value. */
export function isForPrograms(key: string | number | undefined, value: unknown): boolean {
  if (typeof key !== "string") return false;
  if (ID_KEYS.has(key)) return !(typeof value === "string" && isPhrase(value));
  return WORD_KEYS.has(key) && !(typeof value === "string" && /\s/.test(value));
}

/** A longer string without white space is not text. It may be an image. */
const MAX_WORD_LENGTH = 1000;

/** Whether a string looks like an image or another file in base64, which is no text. */
export function isEncodedFile(value: string): boolean {
  return value.length > MAX_WORD_LENGTH && /^[\w+/=:;,.-]+$/.test(value);
}

/** A longer list of numbers may be the tokens of a text. Shorter ones are positions. */
const MAX_NUMBERS = 16;

/**
 * Reads all strings of a value with unknown fields, except ids and the like. Its parts of known types are read by their readers. Strings
 * that look like an image or another file count as skipped, and so do long lists of numbers.
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
      if (isForPrograms(key, value)) return;
      if (isEncodedFile(value)) context.draft.skipped += 1;
      else if (value !== "" && isRead(value)) context.draft.add(value, context.keys);
    } else if (Array.isArray(value)) {
      if (value.length > MAX_NUMBERS && value.every((item) => typeof item === "number")) context.draft.skipped += 1;
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
