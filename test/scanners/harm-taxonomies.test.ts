import { describe, expect, it } from "vitest";
import {
  CATEGORIES,
  HARM_CATEGORIES,
  OPENAI_COMBINED,
  openaiScores,
} from "../../src/scanners/harmful-content/categories.ts";
import { read } from "../house/markdown.ts";

/** The rows of the table with this header, as lists of cells without backticks. */
function tableRows(page: string, header: string): string[][] {
  const lines = page.split("\n");
  const from = lines.findIndex((line) => line.startsWith("|") && line.includes(header));
  const end = lines.findIndex((line, at) => at > from && !line.startsWith("|"));
  return lines.slice(from + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

describe("docs/harmful-content.md", () => {
  const page = read("docs/harmful-content.md");

  it("has the map of the code", () => {
    const rows = Object.entries(CATEGORIES).map(([category, names]) => [
      category,
      ...[names.ailuminate, names.openai, names.llamaGuard, names.azure].map((each) => each.join(", ")),
    ]);
    expect(tableRows(page, "MLCommons AILuminate 1.0")).toEqual(rows);
  });

  it("describes each category, and the combined ones of OpenAI", () => {
    expect(tableRows(page, "| texts").map(([category]) => category)).toEqual(HARM_CATEGORIES);
    const prose = page.replaceAll(/\s+/g, " ");
    for (const [name, [category, violence]] of Object.entries(OPENAI_COMBINED)) {
      expect(prose).toContain(`\`${name}\` is \`${category}\` together with \`${violence}\``);
    }
  });
});

describe("the categories", () => {
  it("are those that the model learns, in its order", () => {
    const [, listed = ""] = /^HARM = \((.*?)\)/ms.exec(read("training/multitask/__init__.py")) ?? [];
    const names = [...listed.matchAll(/\b[a-z_]+\b/g)].map(([name]) => name).filter((name) => name !== "split");
    expect(names).toEqual(["harmful", ...HARM_CATEGORIES]);
  });

  it("cover all categories of other taxonomies, but those that the page excludes", () => {
    const all = (taxonomy: "openai" | "llamaGuard" | "azure") =>
      [...new Set(HARM_CATEGORIES.flatMap((category): readonly string[] => CATEGORIES[category][taxonomy]))].sort();
    expect([...all("openai"), ...Object.keys(OPENAI_COMBINED)].sort()).toEqual([
      ...["harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent"],
      ...["self-harm", "self-harm/instructions", "sexual", "sexual/minors", "violence", "violence/graphic"],
    ]);
    expect(new Set(all("llamaGuard"))).toEqual(new Set(Array.from({ length: 13 }, (_, at) => `S${at + 1}`)));
    expect(all("azure")).toEqual(["Hate", "SelfHarm", "Sexual", "Violence"]);
  });

  it("give OpenAI's categories the highest score of those that belong to them", () => {
    const scores = openaiScores(
      new Map([
        ["weapons", 0.6],
        ["malware", 0.8],
        ["hate", 0.9],
        ["violent_crimes", 0.3],
      ]),
    );
    expect(Object.fromEntries([...scores].filter(([, score]) => score > 0))).toEqual({
      ...{ illicit: 0.8, "illicit/violent": 0.6, hate: 0.9, "hate/threatening": 0.3, violence: 0.3 },
    });
  });
});
