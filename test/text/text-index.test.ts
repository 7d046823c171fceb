import fc from "fast-check";
import { expect, it } from "vitest";
import { TextIndex } from "../../src/text/text-index.ts";

it("TextIndex finds what occurs in a text, also inside each other", () => {
  const index = new TextIndex();
  for (const text of ["", "Ann", "Anna Lee", "Ann Lee", "[X_1]", "[X_12]", "Ann", "😀"]) index.add(text);
  expect([...index.occurringIn("Anna Lee and Ann met [X_12] 😀.")]).toEqual(["Ann", "Anna Lee", "[X_12]", "😀"]);
  expect([...index.occurringIn("")]).toEqual([]);
});

it("TextIndex finds the same as a search for each text", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "[", "1"), maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(text),
      fc.string({ unit: fc.constantFrom("a", "b", "[", "1"), maxLength: 30 }),
      (texts, searched) => {
        const index = new TextIndex();
        for (const text of texts) index.add(text);
        const expected = texts.filter((text) => text !== "" && searched.includes(text));
        expect([...index.occurringIn(searched)].sort()).toEqual([...new Set(expected)].sort());
      },
    ),
  );
});
