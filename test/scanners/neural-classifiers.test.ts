import { describe, expect, it } from "vitest";
import { BanCode, Code, Gibberish, Language, MaliciousURLs } from "../../src/scanners/generated/input-scanners.ts";
import { LanguageSame } from "../../src/scanners/generated/output-scanners.ts";
import { classifierHeads as model, multitaskModel } from "../support/model-fixtures.ts";

/** More tokens than the model's input length, all unknown. They differ, because repetitions are read once. */
const long = Array.from({ length: 40 }, (_, at) => `word${at} `).join("");

describe("Scanners with a linear model also accept a classifier of the engine", () => {
  it("Language", async () => {
    const german = "Das Wetter ist heute nicht so schön.";
    const english = "The weather is not so nice today.";
    const scanner = new Language({ model, validLanguages: ["en"] });
    await scanner.load();
    expect(await scanner.scan(german)).toMatchObject({ isValid: false, findings: [{ label: "de", text: german }] });
    expect((await scanner.scan(english)).isValid).toBe(true);
    expect(await scanner.scan("und")).toMatchObject({ isValid: true, coverage: { windows: 0 } });
    const mixed = `${long}is in English. ${german}`;
    expect((await scanner.scan(mixed)).isValid).toBe(true);
    const sentences = new Language({ model, validLanguages: ["en"], matchType: "sentence" });
    expect((await sentences.scan(mixed)).findings.map(({ text }) => text)).toEqual([german]);
    await Promise.all([scanner.close(), sentences.close()]);
  });

  it("LanguageSame", async () => {
    const scanner = new LanguageSame({ model });
    const prompt = "Wie wird das Wetter denn heute, und morgen?";
    expect((await scanner.scan("Das Wetter ist heute nicht so schön.", { prompt })).isValid).toBe(true);
    expect((await scanner.scan("The weather is not so nice.", { prompt })).findings).toMatchObject([{ label: "en" }]);
    expect((await scanner.scan("Yes.", { prompt })).isValid).toBe(true);
    await scanner.close();
  });

  it("Gibberish", async () => {
    const scanner = new Gibberish({ model });
    await scanner.load();
    expect((await scanner.scan("this is qwrt")).findings).toMatchObject([{ label: "noise" }]);
    expect((await scanner.scan("this is fine")).isValid).toBe(true);
    // All of a long text is read, in windows.
    const { isValid, coverage } = await scanner.scan(`${long}xyzzy ${long}`);
    expect(isValid).toBe(false);
    expect(coverage).toMatchObject({ truncated: false });
    expect(coverage.windows).toBeGreaterThan(3);
    expect((await new Gibberish({ model, labels: ["noise"] }).scan("xyzzy")).isValid).toBe(true);
    await expect(new Gibberish({ model, labels: ["nonsense"] }).load()).rejects.toMatchObject({ path: "labels" });
    await scanner.close();
  });

  it("BanCode", async () => {
    const scanner = new BanCode({ model, threshold: 0.5 });
    await scanner.load();
    expect((await scanner.scan("how are you")).isValid).toBe(true);
    await expect(new BanCode({ model: multitaskModel }).load()).rejects.toMatchObject({ path: "model" });
    await scanner.close();
  });

  it("Code", async () => {
    const python = "```\ndef add(a, b):\n    return a + b\n```";
    const rust = "```\nfn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n```";
    const blocks = new Code({ model, languages: ["python"] });
    await blocks.load();
    expect((await blocks.scan(python)).findings).toMatchObject([{ label: "Python", start: 4 }]);
    expect((await blocks.scan(rust)).isValid).toBe(true);
    expect((await blocks.scan("That was def the best day ever.")).isValid).toBe(true);
    const allows = new Code({ model, languages: ["Python"], isBlocked: false });
    expect((await allows.scan(python)).isValid).toBe(true);
    expect((await allows.scan(rust)).findings).toMatchObject([{ label: "Rust" }]);
    await expect(new Code({ model, languages: ["Python", "Klingon"] }).load()).rejects.toMatchObject({
      path: "languages.1",
    });
    await Promise.all([blocks.close(), allows.close()]);
  });

  it("MaliciousURLs", async () => {
    const scanner = new MaliciousURLs({ model });
    await scanner.load();
    const text = "See https://example.com/evil and https://example.com/fine for more.";
    expect((await scanner.scan(text)).findings).toMatchObject([{ label: "phishing", start: 4, end: 28 }]);
    expect((await scanner.scan("evil, but no link")).isValid).toBe(true);
    await expect(new MaliciousURLs({ model: multitaskModel }).load()).rejects.toMatchObject({ path: "model" });
    await scanner.close();
  });

  it("lists the known models if a model does not exist", () => {
    for (const make of [
      () => new Gibberish({ model: "embedded:nothing" }),
      () => new Language({ model: "/nowhere/at/all", validLanguages: ["en"] }),
      () => new MaliciousURLs({ model: "embedded:nothing" }),
    ]) {
      expect(make).toThrow(/^model: /);
    }
  });
});
