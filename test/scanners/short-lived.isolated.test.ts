import { describe, expect, it } from "vitest";
import { input, type Scanner, scanPrompt, Vault } from "../../src/index.ts";

const COUNT = 60;
const TEXT = "Hello my friend, how are you today?";

describe("a program that creates a scanner for each text", () => {
  it.each<[string, () => Scanner]>([
    ["Language", () => new input.Language({ validLanguages: ["en"] })],
    ["Gibberish", () => new input.Gibberish()],
    ["BanCode", () => new input.BanCode()],
    ["Anonymize", () => new input.Anonymize({ vault: new Vault() })],
  ])("keeps one copy of the data of %s in memory", async (_, create) => {
    const scan = async () => expect((await scanPrompt([create()], TEXT)).isValid).toBe(true);
    await scan();
    const before = process.memoryUsage().rss;
    for (let count = 0; count < COUNT; count++) await scan();
    // A copy takes 7 to 16 MB.
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(2 * COUNT);
  });
});
