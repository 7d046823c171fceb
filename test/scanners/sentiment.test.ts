import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Sentiment as InputSentiment } from "../../src/scanners/generated/input-scanners.ts";
import { Sentiment as OutputSentiment } from "../../src/scanners/generated/output-scanners.ts";

describe("Sentiment", () => {
  it("fails texts that sound negative", async () => {
    const input = new InputSentiment();
    expect(await input.scan("This is a wonderful day!")).toMatchObject({ isValid: true, score: 0, findings: [] });
    // (0.802 + 0.3) / 1.3, rounded.
    expect(await input.scan("I hate this horrible thing")).toMatchObject({
      isValid: false,
      score: 0.8,
      findings: [{ type: "sentiment", score: 0.802 }],
    });
    expect(await input.scan("The table is round.")).toMatchObject({ isValid: true, score: 0 });
    expect(await input.scan("")).toMatchObject({ isValid: true, score: -1 });
  });

  it("has another default threshold on each side", async () => {
    // Compound -0.296.
    const text = "No, thanks";
    expect((await new InputSentiment().scan("Well, no")).isValid).toBe(true);
    expect((await new OutputSentiment().scan("Well, no hope")).isValid).toBe(true);
    expect((await new InputSentiment({ threshold: 0.9 }).scan(text)).isValid).toBe(false);
  });

  it("passes texts without any sentiment at a threshold of 0, and nothing negative", async () => {
    const valid = async (text: string, threshold = 0) => (await new InputSentiment({ threshold }).scan(text)).isValid;
    expect([await valid("The train leaves at nine."), await valid("Thank you!"), await valid("Not so good.")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await valid("The train leaves at nine.", 0.1)).toBe(false);
  });

  it("never scores a failing text as passing", async () => {
    for (const threshold of [-1, -0.5, 0, 0.5, 1]) {
      for (const text of ["bad", "good", "table", "horrible hateful war"]) {
        const { isValid, score } = await new InputSentiment({ threshold }).scan(text);
        expect(isValid ? score === 0 : score >= 0.1 && score <= 1).toBe(true);
      }
    }
  });

  it("treats long texts like short ones", async () => {
    expect(await new OutputSentiment().scan("This is bad. ".repeat(50_000))).toMatchObject({
      isValid: false,
      score: 1,
    });
  });

  it.each([{ threshold: 2 }, { threshold: "0" }, { lexicon: "other" }])("refuses %j", (options) => {
    expect(() => new InputSentiment(options as never)).toThrow(/threshold|lexicon/);
  });

  it("has a score within its bounds for any text", async () => {
    const scanner = new OutputSentiment({ threshold: 1 });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (text) => {
        const { score } = await scanner.scan(text);
        expect(score === -1 || (score >= 0.1 && score <= 1)).toBe(true);
      }),
    );
  });
});
