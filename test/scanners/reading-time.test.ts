import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReadingTime } from "../../src/scanners/generated/output-scanners.ts";
import { scanned } from "../support/rewritten.ts";

const scan = (text: string, options: ConstructorParameters<typeof ReadingTime>[0]) =>
  scanned(new ReadingTime(options), text);

describe("ReadingTime", () => {
  it("reads 200 words a minute", async () => {
    const words = (count: number) => "word ".repeat(count);
    expect(await scan(words(200), { maxTime: 1 })).toMatchObject({ isValid: true, score: -1 });
    const verdict = await scan(words(201), { maxTime: 1 });
    expect(verdict).toMatchObject({ isValid: false, score: 1, findings: [{ start: 999, type: "reading-time" }] });
    expect(verdict).not.toHaveProperty("edits");
    expect((await scan(" \n", { maxTime: 0 })).isValid).toBe(true);
  });

  it("truncates after the last word that fits, and keeps line breaks", async () => {
    expect((await scan("one\r\ntwo  three\nfour five", { maxTime: 0.02, truncate: true })).rewritten).toBe(
      "one\r\ntwo  three\nfour",
    );
    expect((await scan("one two", { maxTime: 0, truncate: true })).rewritten).toBe("");
  });

  it("counts characters in scripts without spaces", async () => {
    const chinese = "汉".repeat(256);
    const verdict = await scan(chinese, { maxTime: 1, truncate: true });
    expect(verdict).toMatchObject({ isValid: false, rewritten: "汉".repeat(255) });
    expect((await scan("の".repeat(357), { maxTime: 1 })).isValid).toBe(true);
    expect((await scan("น".repeat(621), { maxTime: 1 })).isValid).toBe(false);
  });

  it("treats long texts like short ones", async () => {
    expect((await scan("слово ".repeat(100_000), { maxTime: 499.99, truncate: true })).rewritten).toHaveLength(599_987);
  });

  it.each([{}, { maxTime: -1 }, { maxTime: "1" }])("refuses %j", (options) => {
    expect(() => new ReadingTime(options as never)).toThrow(/maxTime/);
  });

  it("keeps a beginning of any text", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme" }),
        fc.double({ min: 0, max: 0.1, noNaN: true }),
        async (text, maxTime) => {
          const { isValid, rewritten } = await scan(text, { maxTime, truncate: true });
          expect(text.startsWith(rewritten)).toBe(true);
          expect(isValid).toBe(rewritten === text);
        },
      ),
    );
  });
});
