import fc from "fast-check";
import { expect, it } from "vitest";
import { Locator } from "../../src/scan/locator.ts";
import { wholeText } from "../../src/scan/scanner.ts";
import { lengthIn } from "../../src/text/offsets.ts";

it("counts what Array.from counts, and points at the same characters", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "é", "😀", "👩‍👩‍👧", "中")), fc.nat(), fc.nat(), (parts, from, to) => {
      const text = parts.join("");
      const points = Array.from(text);
      expect(lengthIn("codePoint", text)).toBe(points.length);
      expect(lengthIn("utf16", text)).toBe(text.length);
      // The code points a to b, with offsets as a scanner gives them.
      const [a, b] = [from % (points.length + 1), to % (points.length + 1)].sort((x, y) => x - y) as [number, number];
      const start = points.slice(0, a).join("").length;
      const end = points.slice(0, b).join("").length;
      const findings = [{ start, end, type: "x", score: 1 }];
      const inCodePoints = new Locator(text, undefined, "codePoint");
      expect(inCodePoints.located(findings)).toEqual([{ start: a, end: b, type: "x", score: 1 }]);
      expect(inCodePoints.coverage(wholeText(text))).toMatchObject({
        chars: points.length,
        scannedChars: points.length,
      });
      expect(new Locator(text, undefined, "utf16").located(findings)).toEqual(findings);
    }),
  );
});

it("never counts a possibly unread character as read", () => {
  const coverage = { chars: 20, scannedChars: 10, truncated: true, windows: 1 };
  const text = `${"😀".repeat(5)}${"a".repeat(10)}`;
  expect(new Locator(text, undefined, "codePoint").coverage(coverage)).toMatchObject({
    chars: 15,
    scannedChars: 5,
  });
});
