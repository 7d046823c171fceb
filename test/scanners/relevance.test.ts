import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Relevance } from "../../src/scanners/generated/output-scanners.ts";
import { embeddingModel, exclusiveClassifier, fillerText, multitaskModel } from "../support/model-fixtures.ts";

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** A model with some heads of {@link multitaskModel}. `pair` is the weight of the head that reads prompt and output together. */
async function judgesWith(heads: string[], pair?: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "guard-relevance-"));
  folders.push(folder);
  await cp(multitaskModel, folder, { recursive: true });
  const config = JSON.parse(await readFile(join(multitaskModel, "config.json"), "utf8"));
  config.guard.heads = config.guard.heads.filter(({ name }: { name: string }) => heads.includes(name));
  config.guard.comparing.relevance.pair = pair;
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  return folder;
}

describe("Relevance", () => {
  const scanner = new Relevance({ model: multitaskModel });
  const prompt = "who played football today ?";

  it("passes answers to the prompt, and fails other texts", async () => {
    const good = await scanner.scan("the red team won the match", { prompt });
    expect(good).toMatchObject({ isValid: true, findings: [] });
    expect(good.score).toBeLessThan(0);
    const text = "rain tomorrow";
    const bad = await scanner.scan(text, { prompt });
    expect(bad).toMatchObject({ isValid: false, findings: [{ start: 0, end: text.length, type: "irrelevance" }] });
    expect(bad.score).toBeGreaterThan(0);
    expect(bad.probability).toBeGreaterThan(good.probability as number);
    expect(bad.findings[0]?.score).toBe(bad.probability);
  });

  it("fails outputs below the threshold, which is a minimum", async () => {
    const output = "rain tomorrow";
    const { probability = 0 } = await scanner.scan(output, { prompt });
    const at = (threshold: number) => new Relevance({ model: multitaskModel, threshold }).scan(output, { prompt });
    expect((await at(1 - probability - 1e-3)).isValid).toBe(true);
    expect((await at(1 - probability + 1e-3)).isValid).toBe(false);
  });

  it("compares the two nearest windows of long texts", async () => {
    const question = `${fillerText.repeat(4)}who won the football match ?`;
    const answer = `${fillerText.repeat(2)}football match goal sports ${"help people with juice . ".repeat(20)}`;
    const { isValid, coverage } = await scanner.scan(answer, { prompt: question });
    expect(isValid).toBe(true);
    expect(coverage).toMatchObject({ scannedChars: answer.length, truncated: false });
    expect(coverage.windows).toBeGreaterThan(3);
  });

  it("compares by vectors, by pairs, or by pairs of near vectors, by model", async () => {
    const question = `${fillerText.repeat(4)}who won the football match ?`;
    const good = `${fillerText.repeat(2)}football match goal sports`;
    const bad = `${fillerText.repeat(4)}rain tomorrow , sunny today`;
    for (const heads of [["meaning"], ["relevance"], ["meaning", "relevance"]]) {
      const own = new Relevance({ model: await judgesWith(heads) });
      await own.load();
      expect(await own.scan("football", { prompt: "sports" }), heads.join()).toMatchObject({ isValid: true });
      expect(await own.scan("rain", { prompt: "sports" }), heads.join()).toMatchObject({ isValid: false });
      const short = { prompt: "who won the football match ?" };
      expect(await own.scan(good, short), heads.join()).toMatchObject({ isValid: true });
      expect(await own.scan("rain tomorrow", { prompt: question }), heads.join()).toMatchObject({ isValid: false });
      expect(await own.scan(good, { prompt: question }), heads.join()).toMatchObject({ isValid: true });
      expect((await own.scan(bad, short)).coverage, heads.join()).toMatchObject({ scannedChars: bad.length });
    }
  });

  it("combines the cosine and the head for pairs as the model configures", async () => {
    const logitOf = async (heads: string[], pair?: number) => {
      const own = new Relevance({ model: await judgesWith(heads, pair) });
      const { probability = Number.NaN } = await own.scan("rain tomorrow", { prompt: "who won the match ?" });
      return Math.log((1 - probability) / probability);
    };
    const [byVectors, together] = await Promise.all([logitOf(["meaning"]), logitOf(["relevance"])]);
    expect(await logitOf(["meaning", "relevance"], 0.25)).toBeCloseTo(byVectors + 0.25 * together, 3);
  });

  it("passes without a prompt or an output", async () => {
    for (const context of [{}, { prompt: " " }]) {
      const verdict = await scanner.scan("rain", context);
      expect(verdict).toMatchObject({ isValid: true, score: -1 });
      expect(verdict.coverage).toEqual({ chars: 4, scannedChars: 0, truncated: true, windows: 0 });
    }
    for (const text of ["", " "]) expect(await scanner.scan(text, { prompt })).toMatchObject({ score: -1 });
  });

  it("uses the cosine itself with an embedding model of the user, as llm-guard does", async () => {
    const own = new Relevance({ model: embeddingModel });
    // The vector is taken from the first token, which is the same in every text.
    expect(await own.scan("rain", { prompt: "football" })).toMatchObject({ isValid: true, score: -1, probability: 0 });
    await expect(new Relevance({ model: exclusiveClassifier }).load()).rejects.toThrow(
      /^model: it is not an embedding model/,
    );
  });
});

describe("Relevance with the embedded model", () => {
  // This threshold finds more than the default, which is set so that one relevant answer in a hundred fails, and passes doubtful
  // ones.
  const embedded = new Relevance({ threshold: 0.6 });

  it.each([
    ["What is the capital of France?", "The capital of France is Paris.", "Whisk two eggs with the sugar until pale."],
    ["如何煮米饭？", "先把米淘洗干净，加水，煮开后转小火焖十五分钟。", "这场比赛主队以三比一获胜。"],
    [
      "Как поменять пароль от почты?",
      "Откройте настройки почты и выберите «Сменить пароль».",
      "Матч закончился вничью.",
    ],
  ])("distinguishes an answer to %j from an irrelevant text", async (prompt, good, bad) => {
    expect((await embedded.scan(good, { prompt })).isValid).toBe(true);
    expect((await embedded.scan(bad, { prompt })).isValid).toBe(false);
  });

  it("fails a short Russian sentence about something else", async () => {
    const prompt = "Как поменять пароль от почты?";
    expect((await embedded.scan("Лось — крупное животное.", { prompt })).isValid).toBe(false);
  });
});
