import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Vault } from "../../src/scan/vault.ts";
import { Anonymize, BanCompetitors, BanSubstrings, Regex } from "../../src/scanners/generated/input-scanners.ts";
import { scanned } from "../support/rewritten.ts";

const NAMES = ["Néstora", "Åkerlund", "Việt Ánh", "Йодовая", "가나다"];
const forms = (name: string) => [name, name.normalize("NFD")];

/** A scanner that redacts a name, by the spelling of the name. */
const scanners = {
  BanSubstrings: (name: string) => new BanSubstrings({ substrings: [name], matchType: "word", redactAll: true }),
  BanCompetitors: (name: string) => new BanCompetitors({ competitors: [name] }),
  Regex: (name: string) => new Regex({ patterns: [name], matchType: "all" }),
  "Anonymize with hiddenNames": (name: string) =>
    new Anonymize({ hiddenNames: [name], recognizerConf: [], entityTypes: ["IP_ADDRESS"] }),
};

describe.each(Object.entries(scanners))("%s finds both spellings of an accent", (_, make) => {
  it.each(NAMES)("%s", async (name) => {
    for (const listed of forms(name)) {
      const scanner = make(listed);
      for (const written of forms(name)) {
        const text = `We met ${written}, and ${written} e\u0301t.`;
        const verdict = await scanned(scanner, text, { vault: new Vault() });
        expect(verdict.rewritten, `${listed} in ${written}`).toMatch(/^We met \[.+\], and \[.+\] e\u0301t\.$/);
        for (const { start, end } of verdict.findings) expect(text.slice(start, end)).toBe(written);
      }
    }
  });
});

describe("BanSubstrings", () => {
  it("has offsets of the original text for any mix of spellings", async () => {
    const scanner = new BanSubstrings({ substrings: ["café", "ñu"], redactAll: true });
    const part = fc.constantFrom(
      "café",
      "cafe\u0301",
      "CAFE\u0301",
      "ñu",
      "n\u0303u",
      "a\u0301",
      "\u0301",
      "x",
      " ",
      "한",
      "\u1112\u1161\u11AB",
      "😀",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const text = parts.join("");
        const { findings, rewritten } = await scanned(scanner, text);
        for (const { start, end } of findings) {
          expect(["café", "ñu"]).toContain(
            text
              .slice(start, end)
              .normalize("NFC")
              .toLowerCase()
              .replace(/\p{M}+$/u, ""),
          );
        }
        expect(rewritten.normalize("NFC").toLowerCase()).not.toMatch(/café(?!\p{M})|ñu(?!\p{M})/u);
      }),
    );
  });

  it("does not find a letter without its accent", async () => {
    const scanner = new BanSubstrings({ substrings: ["cafe"] });
    for (const text of ["café", "cafe\u0301"]) expect((await scanner.scan(text)).isValid).toBe(true);
  });
});
