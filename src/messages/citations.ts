import { readAllStrings } from "./all-strings.ts";
import type { PartContext } from "./part-reader.ts";

/** Reads `annotations` (OpenAI) and `citations` (Anthropic), which contain titles and passages of web pages and documents. */
export function readCitations(part: Readonly<Record<string, unknown>>, context: PartContext): void {
  for (const key of ["annotations", "citations"]) {
    const list = part[key];
    if (list === undefined || list === null || (Array.isArray(list) && list.length === 0)) continue;
    const keys = [...context.keys, key];
    const isData = context.draft.source === "tool";
    const draft = isData ? context.draft : context.reader.openBeside(keys, "tool", context.message);
    readAllStrings(list, { ...context, draft, keys });
  }
}
