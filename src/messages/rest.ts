import { isRecord } from "../support/is-record.ts";
import { NO_TEXT, readLoosely } from "./loose.ts";
import { isProse } from "./names.ts";
import type { At } from "./part.ts";

/** Ids, hashes and times: they have no words. */
const NO_WORDS = /^[\da-f:.+TZ_-]*$/i;

/**
 * Reads what stands in fields that no reader knows, where it could carry an order: other programs may put it before the model. It is a
 * text beside the content; inside the result of a tool it belongs to that result.
 *
 * @param known the fields that are read elsewhere, or are known to hold nothing for the model: `text`, `source.data`.
 */
export function readRest(value: Readonly<Record<string, unknown>>, known: ReadonlySet<string>, at: At): void {
  let into = at.into.source === "tool" ? at.into : undefined;
  const walk = (value: Readonly<Record<string, unknown>>, before: string, at: At): void => {
    for (const [key, item] of Object.entries(value)) {
      const path = before + key;
      if (known.has(path) || (NO_TEXT.has(key) && !isText(item))) continue;
      const inner = { ...at, keys: [...at.keys, key] };
      if (known.has(`${path}.`) && isRecord(item)) {
        walk(item, `${path}.`, inner);
        continue;
      }
      if (item === null || (typeof item !== "object" && !isText(item))) continue;
      into ??= at.reading.open(at.keys, { source: at.into.source, message: at.message, isBeside: true });
      readLoosely(item, { ...inner, into }, isText);
    }
  };
  walk(value, "", at);
}

/** Whether a value is a string that could carry an order. */
function isText(value: unknown): boolean {
  return typeof value === "string" && isProse(value) && !NO_WORDS.test(value);
}

/** The fields for {@link readRest}: names with blanks between them, with points where they lie in each other. */
export function fields(names: string): ReadonlySet<string> {
  const all = new Set(names.split(/\s+/));
  // A field inside another one makes that one known as one to be looked into.
  for (const name of [...all]) {
    for (let end = name.indexOf("."); end > 0; end = name.indexOf(".", end + 1)) all.add(name.slice(0, end + 1));
  }
  return all;
}
