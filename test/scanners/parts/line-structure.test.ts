import { describe, expect, it } from "vitest";
import { StructuredText } from "../../../src/scanners/parts/line-structure.ts";

describe("separators of lines and cells", () => {
  it.each([
    ["Author: Lena\nReviewer: Paul", "Author: Lena ;Reviewer: Paul"],
    ["Author: Lena\r\nReviewer: Paul\r\n", "Author: Lena\r ;Reviewer: Paul\r ;"],
    ["Lena\nPaul\nGreta", "Lena|Paul|Greta"],
    ["- Lena Berg\n- Paul Stern", "- Lena Berg|- Paul Stern"],
    ["Yours faithfully\n\nLena Berg", "Yours faithfully|\nLena Berg"],
    ["given,town\nLena,Bern\nPaul,Graz", "given,town|Lena,Bern|Paul,Graz"],
    ["Lena\tBern\nPaul\tGraz", "Lena;Bern|Paul;Graz"],
    ["Lena Berg    Bern", "Lena Berg;   Bern"],
    ["担当: 佐藤\n部署: 営業", "担当: 佐藤 ;部署: 営業"],
  ])("%j", (text, expected) => {
    expect(new StructuredText(text).marked).toBe(expected);
  });

  it.each([
    "We asked the director, Lena\nBerg, to sign the contract.",
    "Dear Lena,\nthank you.",
    "The first line ends here.\nThe second line too.",
    "one line, only",
    "昨日の会議で鈴木さんが新しい計画について\n説明しました",
  ])("leave running text alone: %j", (text) => {
    expect(new StructuredText(text).marked).toBe(text);
  });

  it("take linear time", () => {
    const started = performance.now();
    for (const unit of ["\n", "\t", "a\n", ",a", " ", "a,b\n", "Ab: c\n", "   a"])
      new StructuredText(unit.repeat(200_000));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe("spans", () => {
  it("are cut at the ends within them", () => {
    const cut = (text: string) => {
      const structured = new StructuredText(text);
      const whole = { start: 0, end: structured.marked.length };
      return structured.restore(whole).map(({ start, end }) => text.slice(start, end));
    };
    expect(cut("Lena Berg\nRole")).toEqual(["Lena Berg", "Role"]);
    expect(cut("Lena\t-\n Paul ")).toEqual(["Lena", "Paul"]);
    expect(cut("Lena Berg")).toEqual(["Lena Berg"]);
    expect(cut("Lead: Lena Berg\nRole: Chair\nend")).toEqual(["Lead: Lena Berg", "Role: Chair", "end"]);
  });
});
