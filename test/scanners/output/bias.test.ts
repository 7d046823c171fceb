import { describe, expect, it } from "vitest";
import { Bias } from "../../../src/scanners/output/bias.ts";
import { filler, judges } from "../../judges.ts";

describe("Bias", () => {
  const scanner = new Bias({ model: judges });

  it("fails a biased output, and points into it", async () => {
    const text = "they are all lazy";
    expect((await scanner.scan(text, { prompt: "who are they ?" })).findings).toMatchObject([
      { start: 0, end: text.length, type: "bias", text, label: "biased" },
    ]);
    expect((await scanner.scan(text)).isValid).toBe(false);
    expect((await scanner.scan("the sky is blue", { prompt: "how is the sky ?" })).isValid).toBe(true);
  });

  it("understands an output by the end of its prompt", async () => {
    const prompt = "are they lazy ?";
    expect((await scanner.scan("they are", { prompt })).isValid).toBe(false);
    for (const apart of [{ usePrompt: false }, { matchType: "sentence" }] as const) {
      expect((await new Bias({ model: judges, ...apart }).scan("they are", { prompt })).isValid).toBe(true);
    }
  });

  it("does not fail an output for what a long prompt says far before its end", async () => {
    const prompt = `are they lazy ? ${filler.repeat(3)}`;
    const output = filler.repeat(3);
    const { isValid, coverage } = await scanner.scan(output, { prompt });
    expect(isValid).toBe(true);
    expect(coverage).toMatchObject({ chars: output.length, scannedChars: output.length, truncated: false });
  });

  it("passes a blank output with -1, whatever its prompt", async () => {
    expect(await scanner.scan(" \n", { prompt: "are they lazy ?" })).toMatchObject({ isValid: true, score: -1 });
  });
});

describe("Bias with the embedded model", () => {
  const embedded = new Bias();

  it("tells slanted wording from a plain report", async () => {
    const slanted =
      "The radical left's disastrous so-called reform is yet another shameless assault on hard-working families by corrupt elites.";
    expect((await embedded.scan(slanted, { prompt: "What happened in the senate?" })).isValid).toBe(false);
    const plain = "The senate passed the bill by 52 votes to 48 on Tuesday. It takes effect in January.";
    expect((await embedded.scan(plain, { prompt: "What happened in the senate?" })).isValid).toBe(true);
  });
});
