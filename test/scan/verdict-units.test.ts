import fc from "fast-check";
import { expect, it } from "vitest";
import { wholeText } from "../../src/scan/scanner.ts";
import { verdictInUnit } from "../../src/scan/verdict-units.ts";
import { lengthIn } from "../../src/text/offsets.ts";

it("counts what Array.from counts, and points at the same characters", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "é", "😀", "👩‍👩‍👧", "中")), fc.nat(), fc.nat(), (parts, from, to) => {
      const text = parts.join("");
      const points = Array.from(text);
      expect(lengthIn("codePoint", text)).toBe(points.length);
      expect(lengthIn("utf16", text)).toBe(text.length);
      // The code points a to b, as a scanner would give them.
      const [a, b] = [from % (points.length + 1), to % (points.length + 1)].sort((x, y) => x - y) as [number, number];
      const start = points.slice(0, a).join("").length;
      const end = points.slice(0, b).join("").length;
      const verdict = {
        isValid: false,
        score: 1,
        findings: [{ start, end, type: "x", score: 1 }],
        coverage: wholeText(text),
      };
      const shown = verdictInUnit("codePoint", text, verdict);
      expect(shown.findings).toEqual([{ start: a, end: b, type: "x", score: 1 }]);
      expect(shown.coverage).toMatchObject({ chars: points.length, scannedChars: points.length });
      expect(verdictInUnit("utf16", text, verdict)).toBe(verdict);
    }),
  );
});

it("never counts as read what may not have been", () => {
  const coverage = { chars: 20, scannedChars: 10, truncated: true, windows: 1 };
  const verdict = { isValid: true, score: -1, findings: [], coverage };
  expect(verdictInUnit("codePoint", `${"😀".repeat(5)}${"a".repeat(10)}`, verdict).coverage).toMatchObject({
    chars: 15,
    scannedChars: 5,
  });
});
