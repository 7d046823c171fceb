import { beforeAll, describe, expect, it } from "vitest";
import { scanPrompt } from "../../src/index.ts";
import type { Scanner } from "../../src/scan/scanner.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { mixedTexts } from "../support/mixed-texts.ts";

describe("the verdict of Toxicity", () => {
  let toxicity: Scanner;
  let others: Scanner[];
  beforeAll(async () => {
    toxicity = createScanner("input", "Toxicity", { threshold: 0.5 });
    // A model of its own, and another head of the same model.
    others = ["PromptInjection", "EmotionDetection"].map((type) => createScanner("input", type, {}));
    for (const scanner of [toxicity, ...others]) await scanner.load?.();
  });

  it("does not depend on which other scanners are listed", async () => {
    const texts = mixedTexts();
    expect(texts.length).toBeGreaterThan(200);
    let failed = 0;
    for (const text of texts) {
      const alone = await scanPrompt([toxicity], text);
      if (!alone.isValid) failed++;
      const { resultsValid, resultsScore } = await scanPrompt([...others, toxicity], text);
      expect(resultsValid.Toxicity, text).toBe(alone.isValid);
      expect(resultsScore.Toxicity, text).toBe(alone.resultsScore.Toxicity);
    }
    expect(failed).toBeGreaterThan(80);
  });
});
