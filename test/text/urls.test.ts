import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findUrls } from "../../src/text/urls.ts";

describe("findUrls", () => {
  it("counts code units and gives both forms", async () => {
    expect(await findUrls("😀 see hxxps://Evil[.]com/a, 请访问пример.рф。")).toEqual([
      { start: 7, end: 27, text: "hxxps://Evil[.]com/a", url: "https://evil.com/a" },
      { start: 32, end: 41, text: "пример.рф", url: "http://xn--e1afmkfd.xn--p1ai/" },
    ]);
  });

  it("finds the same in a long text as in a short one", async () => {
    const found = await findUrls(`${"ж ".repeat(20_000)}http://0x7f.1/x ${"word ".repeat(1000)}`);
    expect(found).toEqual([{ start: 40_000, end: 40_015, text: "http://0x7f.1/x", url: "http://127.0.0.1/x" }]);
  });

  it("returns disjoint pieces of any text, in order", async () => {
    const part = fc.oneof(
      fc.constantFrom("http://", "hxxp", "[.]", ".com", "www.", "/", "@", "。", "\u200b", "(dot)", "a", ":", "\\"),
      fc.string({ unit: "binary", maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
        // Lone surrogates cannot be passed to the addon.
        const text = parts.join("").toWellFormed();
        let last = 0;
        for (const { start, end, url } of await findUrls(text)) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          // Node's URL cannot check these hosts, because it rejects scripts that are newer than its Unicode tables.
          expect(url).toMatch(/^[a-z]+:\/\/[^/\s]+\//u);
          last = end;
        }
        expect(last).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
