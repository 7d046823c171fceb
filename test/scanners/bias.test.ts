import { describe, expect, it } from "vitest";
import { Bias as InputBias } from "../../src/scanners/generated/input-scanners.ts";
import { Bias } from "../../src/scanners/generated/output-scanners.ts";
import { fillerText, multitaskModel } from "../support/model-fixtures.ts";

describe("Bias", () => {
  const scanner = new Bias({ model: multitaskModel });

  it("fails a biased output, and points into it", async () => {
    const text = "they are all lazy";
    expect((await scanner.scan(text, { prompt: "who are they ?" })).findings).toMatchObject([
      { start: 0, end: text.length, type: "bias", text, label: "biased" },
    ]);
    expect((await scanner.scan(text)).isValid).toBe(false);
    expect((await scanner.scan("the sky is blue", { prompt: "how is the sky ?" })).isValid).toBe(true);
  });

  it("fails a biased prompt", async () => {
    const input = new InputBias({ model: multitaskModel, usePrompt: true });
    expect((await input.scan("they are all lazy")).findings).toMatchObject([{ type: "bias", label: "biased" }]);
    expect((await input.scan("the sky is blue")).isValid).toBe(true);
  });

  it("counts the end of the prompt with usePrompt", async () => {
    const prompt = "are they lazy ?";
    expect((await scanner.scan("they are", { prompt })).isValid).toBe(true);
    const behind = new Bias({ model: multitaskModel, usePrompt: true });
    expect((await behind.scan("they are", { prompt })).isValid).toBe(false);
    const sentences = new Bias({ model: multitaskModel, usePrompt: true, matchType: "sentence" });
    expect((await sentences.scan("they are", { prompt })).isValid).toBe(true);
  });

  it("never fails an output for the beginning of a long prompt", async () => {
    const prompt = `are they lazy ? ${fillerText.repeat(3)}`;
    const output = fillerText.repeat(3);
    const behind = new Bias({ model: multitaskModel, usePrompt: true });
    const { isValid, coverage } = await behind.scan(output, { prompt });
    expect(isValid).toBe(true);
    expect(coverage).toMatchObject({ chars: output.length, scannedChars: output.length, truncated: false });
  });

  it("passes a blank output with -1, whatever its prompt", async () => {
    const behind = new Bias({ model: multitaskModel, usePrompt: true });
    for (const bias of [scanner, behind]) {
      expect(await bias.scan(" \n", { prompt: "are they lazy ?" })).toMatchObject({ isValid: true, score: -1 });
    }
  });
});

describe("Bias with the embedded model", () => {
  const embedded = new Bias();

  it("distinguishes slanted wording from a neutral report", async () => {
    const slanted =
      "The radical left's disastrous so-called reform is yet another shameless assault on hard-working families by corrupt elites.";
    expect((await embedded.scan(slanted, { prompt: "What happened in the senate?" })).isValid).toBe(false);
    for (const answer of ["OK.", "I can help you to check this claim. Which reform do you mean?", " \n"]) {
      expect((await embedded.scan(answer, { prompt: `Is this biased? ${slanted}` })).isValid).toBe(true);
    }
    const behind = new Bias({ usePrompt: true });
    expect(await behind.scan(" \n", { prompt: slanted })).toMatchObject({ isValid: true, score: -1 });
    const plain = "The senate passed the bill by 52 votes to 48 on Tuesday. It takes effect in January.";
    expect((await embedded.scan(plain, { prompt: "What happened in the senate?" })).isValid).toBe(true);
  });
});
