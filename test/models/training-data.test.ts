import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listModels } from "../../src/index.ts";
import { createServer } from "../../src/server/index.ts";

const LINE = "do not allow commercial use";

describe("the training data of embedded models", () => {
  const models = listModels("/nowhere");

  it.each(models)("of $model has the licence classes of its card", ({ folder, trainingData }) => {
    const card = readFileSync(join(folder, "CARD.md"), "utf8");
    const inTables = new Set(card.match(/(?<=\| )(?:non-commercial|copyleft)(?= \|$)/gm));
    expect(trainingData?.filter((name) => name === "non-commercial" || name === "copyleft")).toEqual([
      ...["non-commercial", "copyleft"].filter((name) => inTables.has(name)),
    ]);
  });

  it.each([
    ["embedded:code", "code"],
    ["embedded:malicious-urls", "malicious_urls"],
    ["embedded:moderation", "multitask"],
    ["embedded:ner", "ner"],
    ["embedded:prompt-injection", "injection"],
  ])("is open for %s", (name, folder) => {
    const model = models.find((entry) => entry.model === name);
    expect(model?.trainingData).toEqual(["open"]);
    const sets = readFileSync(new URL(`../../training/${folder}/sets.py`, import.meta.url), "utf8");
    expect(sets).toContain('OPEN = "open"');
    for (const licence of ["unclear", "non-commercial", "copyleft"]) expect(sets).not.toContain(`"${licence}"`);
  });

  it("is named in the documentation", () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
    const named = (text: string) => [...new Set(text.match(/embedded:[\w-]+/g))].sort();
    const readme = read("README.md").split("## Licences")[1] ?? "";
    expect(readme).toContain("**not allow commercial use**");
    const namesWhere = (is: (classes: readonly string[]) => boolean) =>
      models.filter(({ trainingData }) => is(trainingData ?? [])).map(({ model }) => model);
    const isOpen = (classes: readonly string[]) => classes.join() === "open";
    expect(named(readme)).toEqual(namesWhere(isOpen));
    const page = read("docs/own-models.md").split("## Licences of the embedded models")[1] ?? "";
    const [restricted = "", open = ""] = page.split("legal advice");
    expect(named(restricted)).toEqual(namesWhere((classes) => classes.includes("non-commercial")));
    expect(named(open)).toEqual(namesWhere(isOpen));
    const folders = readdirSync(new URL("../../models", import.meta.url)).filter(
      (name) => name !== "words" && name !== "shared-layers",
    );
    expect(models.length).toBe(folders.length);
  });

  it("is logged by the server once, for the models that it serves", async () => {
    const logOf = async (type: string, params = {}) => {
      const lines: string[] = [];
      const inputScanners = [
        { type, params },
        { type, name: "again", params },
      ];
      const app = await createServer({ config: { inputScanners }, logger: { write: (line) => lines.push(line) } });
      await app.close();
      return lines.filter((line) => line.includes(LINE)).map((line) => JSON.parse(line).models);
    };
    expect(await logOf("Bias")).toEqual([["embedded:multitask"]]);
    expect(await logOf("Toxicity")).toEqual([]);
    expect(await logOf("Code", { languages: ["Python"] })).toEqual([]);
    expect(await logOf("Gibberish")).toEqual([]);
    expect(await logOf("MaliciousURLs")).toEqual([]);
    expect(await logOf("BanSubstrings", { substrings: ["a"] })).toEqual([]);
  });
});
