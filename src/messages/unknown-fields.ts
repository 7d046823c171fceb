import { isRecord } from "../support/is-record.ts";
import { isForPrograms, readAllStrings } from "./all-strings.ts";
import { isProse } from "./names.ts";
import type { PartContext } from "./part-reader.ts";

/** Ids, hashes and times, which have no words. */
const WORDLESS = /^[\da-f:.+TZ_-]*$/i;

/**
 * Reads fields that no reader knows, if they may contain an instruction, because another program may show them to the model. They become a
 * text beside the content, or part of the tool result that contains them.
 *
 * @param known the fields that are read elsewhere or contain nothing for the model, such as `text` and `source.data`.
 */
export function readUnknownFields(
  value: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  context: PartContext,
): void {
  let draft = context.draft.source === "tool" ? context.draft : undefined;
  const walk = (value: Readonly<Record<string, unknown>>, before: string, context: PartContext): void => {
    for (const [key, item] of Object.entries(value)) {
      const path = before + key;
      if (known.has(path)) continue;
      if (isForPrograms(key, item)) continue;
      const inner = { ...context, keys: [...context.keys, key] };
      if (known.has(`${path}.`) && isRecord(item)) {
        walk(item, `${path}.`, inner);
        continue;
      }
      if (item === null || (typeof item !== "object" && !isText(item) && !isProse(key))) continue;
      draft ??= context.reader.open(context.keys, {
        source: context.draft.source,
        message: context.message,
        isBeside: true,
      });
      draft.addKey(key, inner.keys);
      readAllStrings(item, { ...inner, draft }, isText);
    }
  };
  walk(value, "", context);
}

/** A mail address, which is personal data. */
const MAIL_ADDRESS = /@[\w-]+\.\w/;

/** Whether a value is a string that may contain an instruction or a mail address. */
export function isText(value: unknown): boolean {
  return typeof value === "string" && ((isProse(value) && !WORDLESS.test(value)) || MAIL_ADDRESS.test(value));
}

/** Parses the names of fields: separated by spaces, with a dot between a field and one inside it. */
export function parseFieldNames(names: string): ReadonlySet<string> {
  const all = new Set(names.split(/\s+/));
  // `a.` marks that fields inside `a` are known.
  for (const name of [...all]) {
    for (let end = name.indexOf("."); end > 0; end = name.indexOf(".", end + 1)) all.add(name.slice(0, end + 1));
  }
  return all;
}
