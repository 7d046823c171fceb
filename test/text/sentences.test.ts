import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitSentences } from "../../src/text/sentences.ts";

const texts = async (text: string) => (await splitSentences(text)).map((sentence) => sentence.text);

describe("splitSentences", () => {
  it.each([
    ["Dr. Smith paid 3.50 USD. He left!", ["Dr. Smith paid 3.50 USD.", "He left!"]],
    ["See https://example.com/a.b?c=d. It helps.", ["See https://example.com/a.b?c=d.", "It helps."]],
    ["Yes... No.", ["Yes... No."]],
    ["I was thinking... The train leaves at nine.", ["I was thinking...", "The train leaves at nine."]],
    ["Wait... what?", ["Wait... what?"]],
    ["J. R. R. Tolkien wrote it... slowly. Really?", ["J. R. R. Tolkien wrote it... slowly.", "Really?"]],
    ["1. Open the box. 2. Look inside.", ["1. Open the box.", "2. Look inside."]],
    ["First line\n\nSecond paragraph", ["First line", "Second paragraph"]],
    ["今天天气很好。我们去公园吧！好吗？", ["今天天气很好。", "我们去公园吧！", "好吗？"]],
    [
      "Он родился в 1990 г. в Москве. Живёт на ул. Ленина, д. 5.",
      ["Он родился в 1990 г. в Москве.", "Живёт на ул. Ленина, д. 5."],
    ],
    ["А. С. Пушкин — поэт. И т. д.", ["А. С. Пушкин — поэт.", "И т. д."]],
    ["", []],
    [" \r\n ", []],
  ])("splits %j", async (text, expected) => {
    expect(await texts(text)).toEqual(expected);
  });

  it("loses only white space, in any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 80 }), async (text) => {
        let end = 0;
        for (const sentence of await splitSentences(text)) {
          expect(text.slice(end, sentence.start).trim()).toBe("");
          expect(text.slice(sentence.start, sentence.end)).toBe(sentence.text);
          end = sentence.end;
        }
        expect(text.slice(end).trim()).toBe("");
      }),
    );
  });
});
