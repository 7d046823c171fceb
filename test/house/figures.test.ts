import { describe, expect, it } from "vitest";
import { FIGURES, pagesWithFigures, withFigures } from "../../scripts/figures.mjs";
import { read } from "./markdown.ts";

describe("figures in documents", () => {
  it.each(pagesWithFigures())(
    "in %s are those of the data (node scripts/figures.mjs corrects them)",
    (path: string) => {
      expect(read(path)).toBe(withFigures(read(path)));
    },
  );

  it.each(FIGURES)("the number of $name is counted and stands on a page", ({ count, pattern }) => {
    expect(count).toBeGreaterThan(10);
    expect(pagesWithFigures().some((path: string) => read(path).match(pattern))).toBe(true);
  });

  it("are corrected exactly, or rounded down after 'more than'", () => {
    const count = FIGURES[0]?.count ?? 0;
    const rounded = Math.floor(count / 100) * 100;
    expect(withFigures("It has 7 rules, more than 5 rules.")).toBe(
      `It has ${count.toLocaleString("en-US")} rules, more than ${rounded.toLocaleString("en-US")} rules.`,
    );
  });
});
