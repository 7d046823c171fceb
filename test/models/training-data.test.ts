import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listModels } from "../../src/index.ts";

const FOLDERS: Record<string, string> = {
  moderation: "multitask",
  "malicious-urls": "malicious_urls",
  "prompt-injection": "injection",
};
const OTHERS = ["unclear", "non-commercial", "copyleft"];
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("the training data of embedded models", () => {
  const models = listModels("/nowhere").map((entry) => ({ ...entry, name: entry.model.replace("embedded:", "") }));

  it.each(models)("is open for $name", ({ name, folder, trainingData }) => {
    expect(trainingData).toEqual(["open"]);
    const card = readFileSync(join(folder, "CARD.md"), "utf8");
    expect(card.match(/(?<=\| )(?:unclear|non-commercial|copyleft)(?= \|$)/gm)).toBeNull();
    const code = `training/${FOLDERS[name] ?? name}`;
    // The sets of the language model are listed in the program itself.
    const sets = read(name === "language" ? `${code}/__main__.py` : `${code}/sets.py`);
    expect(sets).toContain('OPEN = "open"');
    for (const other of OTHERS) expect(sets).not.toContain(`"${other}"`);
  });

  it("is named in the documentation", () => {
    const named = (text: string) => [...new Set(text.match(/embedded:[\w-]+/g))].sort();
    const all = models.map(({ model }) => model);
    expect(named(read("README.md").split("## Licences")[1] ?? "")).toEqual(all);
    expect(named(read("docs/own-models.md").split("## Licences of the embedded models")[1] ?? "")).toEqual(all);
    const shared = new Set(["words", "shared-layers"]);
    const folders = readdirSync(new URL("../../models", import.meta.url)).filter((name) => !shared.has(name));
    expect(models.map(({ name }) => name)).toEqual(folders.sort());
  });
});
