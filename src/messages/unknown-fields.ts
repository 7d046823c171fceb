import { isRecord } from "../support/is-record.ts";
import { isForPrograms, readAllStrings } from "./all-strings.ts";
import type { PartContext } from "./part-reader.ts";
import { isFieldText, isProse } from "./text-checks.ts";

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
      if (known.has(path) || isForPrograms(key, item)) continue;
      const inner = { ...context, keys: [...context.keys, key] };
      if (known.has(`${path}.`) && isRecord(item)) {
        walk(item, `${path}.`, inner);
        continue;
      }
      if (item === null || (typeof item !== "object" && !isFieldText(item) && !isProse(key))) continue;
      draft ??= context.reader.openBeside(context.keys, context.draft.source, context.message);
      draft.addKey(key, inner.keys);
      readAllStrings(item, { ...inner, draft }, isFieldText);
    }
  };
  walk(value, "", context);
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
