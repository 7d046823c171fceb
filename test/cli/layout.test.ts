import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columns, truncate } from "../../src/cli/layout.ts";

const ROWS = [
  ["NAME", "SIZE", "LABELS"],
  ["embedded:a-model-with-a-long-name", "12.5 MB", "one, two, three, four, five, six"],
  ["b", "1 MB", "x"],
];

describe("columns", () => {
  it("are as wide as their cells by default", () => {
    expect(columns(ROWS, { right: [1] })).toBe(
      "NAME                                  SIZE  LABELS\n" +
        "embedded:a-model-with-a-long-name  12.5 MB  one, two, three, four, five, six\n" +
        "b                                     1 MB  x\n",
    );
  });

  it("fit a terminal: long cells end in an ellipsis", () => {
    const lines = columns(ROWS, { width: 50 }).trimEnd().split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(50);
    expect(lines[1]).toMatch(/^embedded:a-\S*… {2}12\.5 MB {2}one, two.*…$/);
    expect(lines[2]).toMatch(/^b +1 MB +x$/);
  });

  it("wrap the last cell in a narrow terminal, and lose nothing", () => {
    const text = (width: number) => columns(ROWS, { width, wraps: true });
    expect(text(80)).toBe(
      "NAME                               SIZE     LABELS\n" +
        "embedded:a-model-with-a-long-name  12.5 MB  one, two, three, four, five, six\n" +
        "b                                  1 MB     x\n",
    );
    expect(text(75)).toContain(`one, two, three, four, five,\n${" ".repeat(44)}six\n`);
    expect(text(40)).toContain("\nMB\n    one, two, three, four, five, six\nb  1 MB\n    x\n");
    for (const width of [40, 50, 60, 75]) {
      const lines = text(width).split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(text(width).replace(/\s+/g, " ")).toContain("one, two, three, four, five, six");
    }
  });

  it("never split a character, and never exceed the width", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 30 }), (text, width) => {
        const short = truncate(text, width);
        expect(short.length).toBeLessThanOrEqual(Math.max(width, 1));
        expect(short.isWellFormed?.() ?? true).toBe(true);
        if (text.length <= width) expect(short).toBe(text);
        else expect(short).toMatch(/…$/);
      }),
    );
  });
});
