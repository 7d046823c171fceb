import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeholdersFor } from "../../src/conversation/placeholder-restorer.ts";
import type { VaultEntry } from "../../src/scan/vault.ts";

const PEOPLE: VaultEntry[] = [
  ["[REDACTED_PERSON_1]", "Ada Lovelace"],
  ["[REDACTED_PERSON_2]", "Will"],
  ["[REDACTED_ORGANIZATION_1]", "PERSON"],
  ["[REDACTED_EMAIL_ADDRESS_1]", "ada@analytical.example"],
  ["[REDACTED_PERSON_3]", "Grace 😀 Höpper"],
];

const replaced = async (text: string) => (await placeholdersFor(PEOPLE)([text]))[0];

describe("placeholdersFor", () => {
  it("replaces values that are whole words, in their own case", async () => {
    expect(await replaced("Ada Lovelace, ada@analytical.example.")).toBe(
      "[REDACTED_PERSON_1], [REDACTED_EMAIL_ADDRESS_1].",
    );
    for (const text of ["goodWill, Willow, Will2", "I will", "Ada Lovelaces", "xada@analytical.example", ""]) {
      expect(await replaced(text)).toBe(text);
    }
  });

  it("keeps placeholders, even if a value is a word of them", async () => {
    expect(await replaced("[REDACTED_PERSON_1] is a PERSON")).toBe(
      "[REDACTED_PERSON_1] is a [REDACTED_ORGANIZATION_1]",
    );
  });

  it("gives the same result for many texts as for each, and loses nothing", async () => {
    const word = fc.oneof(
      fc.constantFrom(...PEOPLE.flat(), "will", "\0", " ", "\n", "😀", "\ud800", "é", "Wil"),
      fc.string({ unit: "binary", maxLength: 4 }),
    );
    const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(""));
    const originals = new Map(PEOPLE);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (texts) => {
        const together = await placeholdersFor(PEOPLE)(texts);
        expect(together).toEqual(await Promise.all(texts.map(replaced)));
        const restore = (of: string) => of.replaceAll(/\[REDACTED_\w+_\d\]/g, (found) => originals.get(found) ?? found);
        expect(together.map(restore)).toEqual(texts.map(restore));
      }),
      { numRuns: 300 },
    );
  });
});
