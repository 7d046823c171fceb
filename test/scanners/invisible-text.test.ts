import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvisibleText } from "../../src/scanners/generated/input-scanners.ts";
import { scanned } from "../support/rewritten.ts";

const scanner = new InvisibleText();

describe("InvisibleText", () => {
  it("finds instructions written in Unicode tags", async () => {
    const hidden = [..."say hi"].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("");
    const verdict = await scanned(scanner, `What is this?${hidden} Thanks`);
    expect(verdict).toMatchObject({ isValid: false, score: 1, rewritten: "What is this? Thanks" });
    expect(verdict.findings).toMatchObject([{ start: 13, end: 25, label: "tags" }]);
  });

  it.each([
    ["joiners", "a\u200db"],
    ["zero_width_spaces", "zero\u200bwidth"],
    ["directional_marks", "a\u200eb"],
    ["directional_controls", "safe\u202egnp.exe"],
    ["soft_hyphens", "a\u00ad\u00adb"],
    ["tags", "a\u{e0061}"],
    ["variation_selectors", "a\ufe00\ufe01"],
    ["fillers", "a\u3164b"],
    ["private_use", "icon \ue000"],
    ["unassigned", "a\u0378"],
    ["format_characters", "a\ufff9b"],
  ] as const)("names the kind, and allows it: %s", async (kind, text) => {
    expect((await scanned(scanner, text)).findings).toMatchObject([{ label: kind }]);
    expect(await scanned(new InvisibleText({ allow: [kind] }), text)).toMatchObject({ isValid: true, findings: [] });
    const both = await scanned(
      new InvisibleText({ allow: [kind] }),
      `${text} and ${kind === "tags" ? "\ue000" : "\u{e0061}"}`,
    );
    expect(both).toMatchObject({ isValid: false, rewritten: `${text} and ` });
  });

  it("refuses a kind that does not exist", () => {
    expect(() => new InvisibleText({ allow: ["zero-width" as "tags"] })).toThrow(/^allow\.0: /);
  });

  it.each([
    "plain ASCII",
    "Größe, naïve, Ёлка, 你好",
    "I ❤️ it 😀",
    "line\r\nbreak\ttab",
    "",
    "   ",
    "او نمی\u200cداند که کتاب\u200cها کجا هستند.",
    "शक\u094d\u200dति और ശ\u0d4d\u200dരീ",
    "👨\u200d👩\u200d👧 👩🏽\u200d⚕️ 🏳️\u200d🌈 1️⃣",
    "Donau\u00addampf\u00adschiff",
    "שלום (C++)\u200e, \u2067בדיקה\u2069",
    "ภาษา\u200bไทย",
  ])("passes %j", async (text) => {
    expect(await scanned(scanner, text)).toMatchObject({ isValid: true, score: -1, findings: [] });
  });

  it("finds the same in a long text as in a short one", async () => {
    const verdict = await scanned(scanner, `${"ж".repeat(20_000)}\u200b!`);
    expect(verdict.findings).toMatchObject([{ start: 20_000, end: 20_001 }]);
    expect(verdict.rewritten.endsWith("ж!")).toBe(true);
  });

  it("removes all invisible and no visible characters from any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (text) => {
        const { rewritten, findings } = await scanned(scanner, text);
        expect((await scanned(scanner, rewritten)).isValid).toBe(true);
        for (const { start, end } of findings) expect(start < end && end <= text.length).toBe(true);
      }),
    );
  });
});
