import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { Language } from "../../src/scanners/generated/input-scanners.ts";
import { Language as OutputLanguage } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import shortTexts from "../fixtures/short-texts.json" with { type: "json" };

const english = new Language({ validLanguages: ["en"] });
afterAll(() => english.close());

describe("Language", () => {
  it.each([
    ["de", "Das Wetter ist heute schön, und wir gehen später noch spazieren."],
    ["ru", "Сегодня хорошая погода, и мы идём гулять в парк."],
    ["uk", "Сьогодні гарна погода, і ми йдемо гуляти до парку."],
    ["zh", "今天天气很好，我们去公园散步吧。"],
    ["ja", "今日は天気がいいので、公園へ散歩に行きます。"],
    ["ko", "오늘은 날씨가 좋아서 공원에 산책하러 갑니다."],
    ["fa", "امروز هوا خوب است و ما به پارک می‌رویم."],
    ["ur", "آج موسم بہت اچھا ہے اور ہم پارک جا رہے ہیں۔"],
  ])("finds %s if only English is allowed", async (language, text) => {
    const verdict = await english.scan(text);
    expect(verdict.isValid).toBe(false);
    expect(verdict.score).toBeGreaterThan(0);
    expect(verdict.findings[0]).toMatchObject({ start: 0, end: text.length, type: "language", label: language, text });
    expect(await new Language({ validLanguages: [language] }).scan(text)).toMatchObject({ isValid: true, score: -1 });
  });

  it.each([
    "What is the capital of France?",
    "12345",
    "😀 👍",
    "https://de.wikipedia.org/wiki/Wetter",
    "",
    "  \n ",
    "= + !",
  ])("passes %j", async (text) => {
    expect(await english.scan(text)).toMatchObject({ isValid: true, score: -1, findings: [] });
  });

  it("takes the shortest code of a language only", () => {
    for (const code of ["eng", "deu", "xx"]) {
      expect(() => new Language({ validLanguages: [code] })).toThrow(/validLanguages\.0: expected the ISO 639-1 code/);
    }
    expect(() => new Language({ validLanguages: ["en", "ceb"] })).not.toThrow();
  });

  it("passes texts that are too short to identify, and reports it in the coverage", async () => {
    for (const text of [...shortTexts.english, ...shortTexts.short]) {
      const verdict = await english.scan(text);
      expect(verdict, text).toMatchObject({ isValid: true, findings: [] });
    }
    for (const text of ["hi", "what?", "print('hello world')", "Anna Schmidt, Jürgen Müller"]) {
      expect((await english.scan(text)).coverage).toMatchObject({ windows: 0, truncated: false });
    }
  });

  it.each(Object.entries(shortTexts.foreign))(
    "distinguishes short texts in %s from English",
    async (language, texts) => {
      const own = new Language({ validLanguages: [language] });
      for (const text of texts) {
        // A text may certainly not be English and yet be equally likely in two related languages.
        const { isValid, probability = 0 } = await english.scan(text);
        expect(isValid && probability < 0.5, text).toBe(false);
        expect((await own.scan(text)).isValid, text).toBe(true);
      }
    },
  );

  it("ignores code", async () => {
    const prose = "Das ist mir leider noch nicht ganz klar.";
    const code = "```python\nfor word in words:\n    print(word)\n```";
    expect((await english.scan(`${prose}\n${code}`)).findings[0]?.label).toBe("de");
    expect((await new Language({ validLanguages: ["de"] }).scan(`${prose}\n${code}`)).isValid).toBe(true);
  });

  it("checks each sentence with match type sentence, and names the failing one", async () => {
    const text =
      "😀 The weather is really nice today, so we will go for a long walk in the park. Das Wetter ist heute schön. " +
      "And after that we will all have dinner together at the new restaurant near the station.";
    expect((await english.scan(text)).isValid).toBe(true);
    const { isValid, findings } = await new Language({ validLanguages: ["en"], matchType: "sentence" }).scan(text);
    expect(isValid).toBe(false);
    expect(findings.map((finding) => [finding.label, finding.text])).toEqual([["de", "Das Wetter ist heute schön."]]);
    expect(text.slice(findings[0]?.start, findings[0]?.end)).toBe("Das Wetter ist heute schön.");
  });

  it("points at the sentences that make a text fail", async () => {
    const text = "Hello there. Сегодня хорошая погода, и мы идём гулять в парк, а потом в кино.";
    const { findings } = await english.scan(text);
    expect(findings.map(({ label, start }) => [label, start])).toEqual([["ru", 13]]);
  });

  it("has llm-guard's thresholds", () => {
    expect(Language.options.shape.threshold.parse(undefined)).toBe(0.6);
    expect(OutputLanguage.options.shape.threshold.parse(undefined)).toBe(0.7);
  });

  it("passes a text without a certain language", async () => {
    const text = "The weather is nice today. Сегодня хорошая погода.";
    expect(await new Language({ validLanguages: ["zh"], threshold: 0.99 }).scan(text)).toMatchObject({ isValid: true });
  });

  it.each([
    [{ validLanguages: [] }, "validLanguages"],
    [{ validLanguages: ["English"] }, "validLanguages.0"],
    [{ validLanguages: ["en"], model: "embedded:nothing" }, "model"],
    [{ validLanguages: ["en"], threshold: 2 }, "threshold"],
  ])("refuses %j", (options, path) => {
    let error: unknown;
    try {
      new Language(options);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(GuardValidationError);
    expect((error as GuardValidationError).path).toBe(path);
  });

  it("finds the same in a long text as in a short one", async () => {
    const verdict = await english.scan("Сегодня хорошая погода, и мы идём гулять. ".repeat(500));
    expect(verdict.findings).toHaveLength(500);
    expect(verdict.findings.every(({ label }) => label === "ru")).toBe(true);
  });

  it("accepts any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (text) => {
        for (const { start, end, score } of (await english.scan(text.toWellFormed())).findings) {
          expect(start < end && end <= text.length && score > 0.6 && score <= 1.001).toBe(true);
        }
      }),
    );
  });
});
