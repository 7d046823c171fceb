import { readLoosely } from "./loose.ts";
import type { At } from "./part.ts";

/**
 * Reads what a text says about its sources: `annotations` (OpenAI) and `citations` (Anthropic) hold titles and passages that come from
 * pages and documents.
 */
export function readCitations(part: Readonly<Record<string, unknown>>, at: At): void {
  for (const key of ["annotations", "citations"]) {
    const list = part[key];
    if (!Array.isArray(list) || list.length === 0) continue;
    const keys = [...at.keys, key];
    const isData = at.into.source === "tool";
    const into = isData ? at.into : at.reading.open(keys, { source: "tool", message: at.message, isBeside: true });
    readLoosely(list, { ...at, into, keys });
  }
}
