import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { BanTopics as InputBanTopics } from "../../src/scanners/generated/input-scanners.ts";
import { BanTopics as OutputBanTopics } from "../../src/scanners/generated/output-scanners.ts";
import { exclusiveClassifier, fillerText, multitaskModel } from "../support/model-fixtures.ts";

const scratch = mkdtempSync(join(tmpdir(), "guard-topics-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** The model with another configuration. */
function changed(change: (guard: { heads: { name: string }[]; comparing?: unknown }) => void): string {
  const folder = mkdtempSync(join(scratch, "model"));
  cpSync(multitaskModel, folder, { recursive: true });
  const path = join(folder, "config.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  change(config.guard);
  writeFileSync(path, JSON.stringify(config));
  return folder;
}

describe("BanTopics", () => {
  const scanner = new InputBanTopics({ model: multitaskModel, topics: ["sports", "weather"] });

  it("names the topic, its probability and its offsets", async () => {
    const text = "who played football today";
    const { isValid, findings, probability } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(findings).toEqual([
      { start: 0, end: text.length, type: "topic", text, label: "sports", score: probability },
    ]);
    expect(await scanner.scan("the sky is blue")).toMatchObject({ isValid: true, findings: [] });
    expect((await scanner.scan("football in the rain")).findings.map(({ label }) => label)).toEqual([
      "sports",
      "weather",
    ]);
  });

  it.each(["политика", "politics"])("finds %s in other languages", async (topic) => {
    const banned = new OutputBanTopics({ model: multitaskModel, topics: [topic] });
    for (const text of ["the election", "выборы"]) expect((await banned.scan(text, {})).isValid).toBe(false);
    expect((await banned.scan("футбол", {})).isValid).toBe(true);
  });

  it("finds a topic by any of its phrases, and names the topic", async () => {
    const leisure = { name: "leisure", phrases: ["football", "sunny"] };
    const named = new InputBanTopics({ model: multitaskModel, topics: [leisure, "politics"] });
    for (const text of ["who won the match", "rain today"]) {
      const { isValid, findings, probability } = await named.scan(text);
      expect({ isValid, labels: findings.map(({ label, score }) => ({ label, score })) }).toEqual({
        isValid: false,
        labels: [{ label: "leisure", score: probability }],
      });
    }
    expect((await named.scan("the election in the rain")).findings.map(({ label }) => label)).toEqual([
      "leisure",
      "politics",
    ]);
    expect((await named.scan("the sky is blue")).isValid).toBe(true);
  });

  it("finds a topic beyond the model's input length", async () => {
    const text = `${fillerText.repeat(4)}${"football match goal . ".repeat(5)}`;
    const { isValid, findings, coverage } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(findings.at(-1)?.start).toBeGreaterThan(fillerText.length * 3);
    expect(coverage).toMatchObject({ scannedChars: text.length, truncated: false });
  });

  it("passes blank texts with -1, and refuses an empty list of topics", async () => {
    for (const text of ["", " "]) expect(await scanner.scan(text)).toMatchObject({ isValid: true, score: -1 });
    expect(() => new InputBanTopics({ model: multitaskModel, topics: [] })).toThrow(/^topics:/);
    expect(() => new InputBanTopics({ model: multitaskModel, topics: [" "] })).toThrow(/^topics.0/);
    expect(() => new InputBanTopics({ model: multitaskModel, topics: [7 as never] })).toThrow(
      /^topics.0: expected a topic/,
    );
  });

  it.each([
    [{ name: "work", phrases: [] }, ["topics.0.phrases"]],
    [{ name: "work", phrases: ["pay", " "] }, ["topics.0.phrases.1"]],
    [{ phrases: ["work"] }, ["topics.0.name"]],
    [{ name: "work", phrase: ["pay"] }, ["topics.0.phrases", "topics.0.phrase"]],
  ])("names the error in the topic %j", (topic, paths) => {
    const make = () =>
      new InputBanTopics({ model: multitaskModel, topics: [topic as { name: string; phrases: string[] }] });
    expect(make).toThrow(expect.objectContaining({ issues: paths.map((path) => expect.objectContaining({ path })) }));
  });

  it("loads the topics even if the first call is aborted", async () => {
    const fresh = new InputBanTopics({ model: multitaskModel, topics: ["sports"] });
    const controller = new AbortController();
    const first = fresh.scan("football", { signal: controller.signal });
    const second = fresh.scan("football");
    controller.abort(new Error("changed my mind"));
    await expect(first).rejects.toThrow("changed my mind");
    expect((await second).isValid).toBe(false);
  });

  it("accepts an inference model, which judges whether a text is an example of the topic", async () => {
    const model = changed((guard) => {
      guard.heads = guard.heads.filter(({ name }) => name === "nli");
      guard.comparing = undefined;
    });
    const inferring = new InputBanTopics({ model, topics: ["football", "weather"], threshold: 0.9 });
    // This model judges entailment by words, so only the words that a topic shares with the text count.
    const text = "This example is football . and it is a match";
    expect((await inferring.scan(text)).findings.map(({ label }) => label)).toEqual(["football"]);
    const leisure = { name: "leisure", phrases: ["weather", "football"] };
    const named = new InputBanTopics({ model, topics: [leisure], threshold: 0.9 });
    expect((await named.scan(text)).findings.map(({ label }) => label)).toEqual(["leisure"]);
    const cut = new InputBanTopics({ model, topics: ["football"], matchType: "truncate_head_tail" });
    await expect(cut.load()).rejects.toMatchObject({ path: "matchType" });
  });

  it("uses the cosine itself if the model does not configure it", async () => {
    const plain = new InputBanTopics({ model: changed((guard) => (guard.comparing = undefined)), topics: ["sports"] });
    expect((await plain.scan("football")).probability).toBeCloseTo(1, 5);
    expect((await plain.scan("rain")).probability).toBeCloseTo(0, 5);
  });

  it("refuses a model that cannot compare topics, and an invalid configuration", async () => {
    const labels = new InputBanTopics({ model: exclusiveClassifier, topics: ["sports"] });
    await expect(labels.load()).rejects.toMatchObject({ path: "model" });
    const broken = changed((guard) => (guard.comparing = { topics: { scale: "steep", offset: 0 } }));
    await expect(new InputBanTopics({ model: broken, topics: ["sports"] }).load()).rejects.toThrow(
      /config.json.*scale/,
    );
  });
});

describe("BanTopics with the embedded model", () => {
  const topics = ["politics", "religion", "medical advice"];
  const embedded = new InputBanTopics({ topics });
  afterAll(() => embedded.close());

  it.each([
    ["politics", "The prime minister lost the vote of confidence in parliament, and there will be an election in May."],
    ["medical advice", "Which dose of ibuprofen can I take for a fever, and how often?"],
    ["religion", "Почему православные соблюдают пост перед Пасхой и ходят в храм на исповедь?"],
  ])("finds %s in %j", async (topic, text) => {
    const { isValid, findings } = await embedded.scan(text);
    expect(isValid).toBe(false);
    expect(findings.map(({ label }) => label)).toContain(topic);
  });

  it.each(["My bread dough does not rise, what did I do wrong?", "这个函数为什么返回 undefined？"])(
    "passes %j",
    async (text) => {
      expect(await embedded.scan(text)).toMatchObject({ isValid: true, findings: [] });
    },
  );

  it("accepts topics in other languages than the text", async () => {
    const chinese = new InputBanTopics({ topics: ["足球"] });
    expect((await chinese.scan("The striker scored twice and the goalkeeper saved a penalty.")).isValid).toBe(false);
    expect((await chinese.scan("Add two eggs and whisk until the mixture is pale.")).isValid).toBe(true);
  });
});
