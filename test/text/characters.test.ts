import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { characterAt, characterBefore } from "../../src/text/characters.ts";

describe("characterAt and characterBefore", () => {
  it("read one code point, and nothing beyond the ends", () => {
    expect([characterAt("a😀", 0), characterAt("a😀", 1), characterAt("a😀", 3)]).toEqual(["a", "😀", ""]);
    expect([characterBefore("a😀", 0), characterBefore("a😀", 1), characterBefore("a😀", 3)]).toEqual(["", "a", "😀"]);
  });

  it("agree on every border between two code points, lone surrogates included", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.string({ unit: fc.constantFrom("\ud83d", "\ude00", "x") }),
        (a, b) => {
          const text = a + b;
          let at = 0;
          for (const character of text) {
            expect(characterAt(text, at)).toBe(character);
            at += character.length;
            expect(characterBefore(text, at)).toBe(character);
          }
        },
      ),
    );
  });
});
