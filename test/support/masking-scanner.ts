import type { Edit } from "../../src/scan/edits.ts";
import { passed, type Scanner } from "../../src/scan/scanner.ts";

/**
 * Makes a scanner that replaces `<value>` by a placeholder such as `[VALUE_1]`, and adds the pair to the vault of the call. Equal values get the
 * same placeholder. It yields to the event loop after every value, so that concurrent scans interleave.
 */
export function maskingScanner(more: Partial<Scanner> = {}): Scanner {
  return {
    type: "Mask",
    name: "Mask",
    sanitizes: true,
    vaultScope: "call",
    async scan(text, { vault }) {
      const edits: Edit[] = [];
      for (const { 0: found, 1: value = "", index } of text.matchAll(/<([^>]*)>/gu)) {
        const known = vault?.entries().find(([, original]) => original === value)?.[0];
        const placeholder = known ?? `[VALUE_${(vault?.size ?? 0) + 1}]`;
        vault?.append([placeholder, value]);
        edits.push({ start: index, end: index + found.length, replacement: placeholder });
        await new Promise(setImmediate);
      }
      return edits.length === 0 ? passed(text) : { ...passed(text), edits };
    },
    ...more,
  };
}
