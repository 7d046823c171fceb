import { afterAll, describe, expect, it } from "vitest";
import { LanguageSame } from "../../src/scanners/generated/output-scanners.ts";
import shortTexts from "../fixtures/short-texts.json" with { type: "json" };

const scanner = new LanguageSame();
afterAll(() => scanner.close());

describe("LanguageSame", () => {
  it.each([
    ["What is the capital of France?", "The capital of France is Paris."],
    ["Какая столица у Франции?", "Столица Франции — Париж."],
    ["法国的首都是哪里？", "法国的首都是巴黎。"],
    ["What is 6 times 7?", "42"],
    ["👍", "You are welcome, and good luck."],
    ["", "The capital of France is Paris."],
  ])("passes %j, %j", async (prompt, output) => {
    expect(await scanner.scan(output, { prompt })).toMatchObject({ isValid: true, score: -1, findings: [] });
  });

  it.each(Object.entries(shortTexts.prompts))("passes short answers to a prompt in %s", async (language, prompt) => {
    for (const answer of shortTexts.answers) {
      const verdict = await scanner.scan(answer, { prompt });
      expect(verdict, answer).toMatchObject({ isValid: true, score: -1, findings: [], coverage: { truncated: false } });
    }
    for (const [other, answer] of Object.entries(shortTexts.prompts)) {
      expect((await scanner.scan(answer, { prompt })).isValid, answer).toBe(other === language);
    }
  });

  it("reports in the coverage that a short answer was not compared", async () => {
    const prompt = "Kannst du mir bitte sagen, ob das wirklich stimmt?";
    expect((await scanner.scan("Sí.", { prompt })).coverage.windows).toBe(0);
    expect((await scanner.scan("Ja, das stimmt leider wirklich so.", { prompt })).coverage.windows).toBe(1);
  });

  it("reports in the coverage that an answer without a prompt was not scanned", async () => {
    for (const context of [{}, { prompt: " " }]) {
      const { coverage } = await scanner.scan("Ja, das stimmt leider wirklich so.", context);
      expect(coverage).toEqual({ chars: 34, scannedChars: 0, truncated: true, windows: 0 });
    }
  });

  it.each([
    ["What is the capital of France, and how many people live there?", "Столица Франции — Париж.", "ru"],
    ["法国的首都是哪里？", "The capital of France is Paris, of course.", "en"],
    ["Какая столица у Франции и сколько там людей?", "Столицею Франції є місто Париж, де живе багато людей.", "uk"],
  ])("fails %j, %j", async (prompt, output, label) => {
    const verdict = await scanner.scan(output, { prompt });
    expect(verdict).toMatchObject({ isValid: false, score: 1 });
    expect(verdict.findings).toMatchObject([{ start: 0, end: output.length, type: "language", label }]);
  });
});
