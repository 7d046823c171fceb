import { passed, type Scanner } from "../../src/scan/scanner.ts";

/**
 * A scanner that replaces `<value>` by `[VALUE_1]`, the same value by the same placeholder, and puts the pair into the vault of
 * the call. It yields to the event loop after every value, so that scans which run at the same time interleave.
 */
export function maskingScanner(more: Partial<Scanner> = {}): Scanner {
  return {
    type: "Mask",
    name: "Mask",
    sanitizes: true,
    vaultScope: "call",
    async scan(text, { vault }) {
      const parts: string[] = [];
      let end = 0;
      for (const { 0: found, 1: value = "", index } of text.matchAll(/<([^>]*)>/gu)) {
        const known = vault?.entries().find(([, original]) => original === value)?.[0];
        const placeholder = known ?? `[VALUE_${(vault?.size ?? 0) + 1}]`;
        vault?.append([placeholder, value]);
        parts.push(text.slice(end, index), placeholder);
        end = index + found.length;
        await new Promise(setImmediate);
      }
      return end === 0 ? passed(text) : { ...passed(text), sanitized: [...parts, text.slice(end)].join("") };
    },
    ...more,
  };
}
