import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listModels } from "../../src/index.ts";
import { createServer } from "../../src/server/index.ts";

const LINE = "do not allow commercial use";

describe("the data that embedded models learnt from", () => {
  const models = listModels("/nowhere");

  it.each(models)("of $model are of the classes that its card has", ({ folder, trainingData }) => {
    const card = readFileSync(join(folder, "CARD.md"), "utf8");
    const inTables = new Set(card.match(/(?<=\| )(?:non-commercial|copyleft)(?= \|$)/gm));
    expect(trainingData?.filter((name) => name === "non-commercial" || name === "copyleft")).toEqual([
      ...["non-commercial", "copyleft"].filter((name) => inTables.has(name)),
    ]);
  });

  it("is named in the README", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const licences = readme.slice(readme.indexOf("## Licences"));
    for (const { model, trainingData } of models) {
      expect(licences.includes(`\`${model}\``), model).toBe(true);
      const listed = licences.indexOf(`\`${model}\``, licences.indexOf("texts under copyleft licences")) >= 0;
      expect(listed, model).toBe(trainingData?.includes("non-commercial"));
    }
    expect(models.length).toBe(readdirSync(new URL("../../models", import.meta.url)).length - 1);
  });

  it("is in the server's log once, for the models that it serves", async () => {
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
    expect(await logOf("Gibberish")).toEqual([["embedded:gibberish"]]);
    expect(await logOf("MaliciousURLs")).toEqual([]);
    expect(await logOf("BanSubstrings", { substrings: ["a"] })).toEqual([]);
  });
});
