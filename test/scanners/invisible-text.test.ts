import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvisibleText } from "../../src/generated/input-scanners.ts";

const scanner = new InvisibleText();

describe("InvisibleText", () => {
  it("finds instructions written in Unicode tags", async () => {
    const hidden = [..."say hi"].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("");
    const verdict = await scanner.scan(`What is this?${hidden} Thanks`);
    expect(verdict).toMatchObject({ isValid: false, score: 1, sanitized: "What is this? Thanks" });
    expect(verdict.findings).toMatchObject([{ start: 13, end: 25, label: "tag" }]);
  });

  it.each([
    ["zero-width", "zero\u200bwidth"],
    ["bidi-control", "safe\u202egnp.exe"],
    ["private-use", "icon \ue000"],
  ])("names the kind: %s", async (kind, text) => {
    expect((await scanner.scan(text)).findings[0]?.label).toBe(kind);
  });

  it.each(["plain ASCII", "Größe, naïve, Ёлка, 你好", "I ❤️ it 😀", "line\r\nbreak\ttab", "", "   "])(
    "passes %j",
    async (text) => {
      expect(await scanner.scan(text)).toMatchObject({ isValid: true, score: -1, findings: [] });
    },
  );

  it("finds the same in a long text as in a short one", async () => {
    const verdict = await scanner.scan(`${"ж".repeat(20_000)}\u200b!`);
    expect(verdict.findings).toMatchObject([{ start: 20_000, end: 20_001 }]);
    expect(verdict.sanitized?.endsWith("ж!")).toBe(true);
  });

  it("leaves nothing to find and nothing visible out, in any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (text) => {
        const { sanitized = text, findings } = await scanner.scan(text);
        expect((await scanner.scan(sanitized)).isValid).toBe(true);
        for (const { start, end } of findings) expect(start < end && end <= text.length).toBe(true);
      }),
    );
  });
});
