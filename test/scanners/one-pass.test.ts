import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { scanConversation } from "../../src/conversation/scan-conversation.ts";
import { scanOutput, scanPrompt } from "../../src/index.ts";
import { AnswerCache } from "../../src/models/call-context.ts";
import type { Scanner, Side } from "../../src/scan/scanner.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { exclusiveClassifier, fillerText, multitaskModel } from "../support/model-fixtures.ts";

/** Records the texts that models read. Calls that share an earlier answer are not recorded. */
function record(): string[] {
  const asked: string[] = [];
  const share = AnswerCache.prototype.share;
  vi.spyOn(AnswerCache.prototype, "share").mockImplementation(function (
    this: AnswerCache,
    question,
    text,
    ask,
    signal,
  ) {
    const counted = () => {
      // Results computed without a model are shared too.
      if (/^[a-z_]+ .*\]$/.test(question)) asked.push(text);
      return ask();
    };
    return share.call(this, question, text, counted, signal) as ReturnType<typeof ask>;
  });
  return asked;
}
afterEach(() => {
  vi.restoreAllMocks();
});

async function loaded(side: Side, ...listed: [string, object?][]): Promise<Scanner[]> {
  const scanners = listed.map(([type, params]) => createScanner(side, type, { model: multitaskModel, ...params }));
  for (const scanner of scanners) await scanner.load?.();
  return scanners;
}

const scratch = mkdtempSync(join(tmpdir(), "guard-one-pass-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Returns a copy of the model whose graph lets texts leave early that a head would surely find harmless. */
function withEarlyExit(name: string): string {
  cpSync(multitaskModel, scratch, { recursive: true });
  const path = join(scratch, "config.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  const head = config.guard.heads.find((head: { name: string }) => head.name === name);
  head.early_exit = `${name}_alone`;
  writeFileSync(path, JSON.stringify(config));
  return scratch;
}

const topics: [string, object] = ["BanTopics", { topics: ["sports", "weather", "politics"] }];

describe("one pass", () => {
  it("serves all scanners of a call that share a model, whatever order they have", async () => {
    const [toxicity, emotion, ban] = (await loaded("input", ["Toxicity"], ["EmotionDetection"], topics)) as [
      Scanner,
      Scanner,
      Scanner,
    ];
    // A rewriting scanner runs alone, between the scanners before and after it.
    const rewriting = createScanner("input", "Regex", { patterns: ["never there"] });
    const names = createScanner("input", "Anonymize", { recognizer_conf: multitaskModel });
    await names.load?.();
    const asked = record();
    const text = "you idiot played football";
    const { resultsValid } = await scanPrompt([toxicity, rewriting, emotion, names, ban], text);
    expect(resultsValid).toMatchObject({ Toxicity: false, EmotionDetection: true, BanTopics: false });
    expect(asked).toEqual([text]);
  });

  it("reads a prompt and an output once", async () => {
    const scanners = await loaded("output", ["Toxicity"], ["NoRefusal"], ["Bias"], topics, ["Relevance"]);
    const asked = record();
    // Relevance compares the vectors of long texts, which the pass for the other scanners has computed.
    const prompt = `${fillerText.repeat(5)}who won ?`;
    await scanOutput(scanners, prompt, "the red team won the match");
    expect(asked.sort()).toEqual(["the red team won the match", prompt]);
  });

  it("is repeated for the next call, for another text and for another strategy", async () => {
    const scanners = await loaded(
      "input",
      ["Toxicity"],
      ["Toxicity", { match_type: "sentence" }],
      ["EmotionDetection"],
    );
    const asked = record();
    await scanPrompt(scanners, "plain text");
    expect(asked).toEqual(["plain text", "plain text"]);
    await scanPrompt(scanners, "plain text");
    await scanPrompt(scanners, "calm text");
    expect(asked).toHaveLength(6);
  });

  it("is separate for each model", async () => {
    const scanners = await loaded(
      "input",
      ["Toxicity"],
      ["Toxicity", { model: exclusiveClassifier, labels: ["INJECTION"] }],
    );
    const asked = record();
    const { resultsValid } = await scanPrompt(scanners, "attack you idiot");
    expect(asked).toHaveLength(2);
    expect(resultsValid).toEqual({ Toxicity: false, "Toxicity#2": false });
  });

  it("runs once more for a head with an early exit, whose answer does not depend on other scanners", async () => {
    const model = withEarlyExit("toxicity");
    const [toxicity, emotion] = (await loaded("input", ["Toxicity", { model }], ["EmotionDetection", { model }])) as [
      Scanner,
      Scanner,
    ];
    const asked = record();
    const probabilities = async (...scanners: Scanner[]) => {
      const context = { answers: new AnswerCache() };
      const verdicts = await Promise.all(scanners.map((scanner) => scanner.scan("plain text", context)));
      return verdicts.map(({ probability = Number.NaN }) => probability);
    };
    const [alone] = await probabilities(toxicity);
    expect(alone).toBeLessThan(0.001);
    const [together, emotional] = await probabilities(toxicity, emotion);
    expect(together).toBe(alone);
    expect(emotional).toBeGreaterThan(0.01);
    expect(asked).toHaveLength(3);
    expect(await toxicity.scan("you idiot", {})).toMatchObject({ isValid: false });
  });

  it("serves equal parts of a conversation", async () => {
    const scanners = await loaded("input", ["Toxicity"], topics);
    const asked = record();
    const messages = [
      { role: "user", content: "the sky is blue" },
      { role: "assistant", content: "it is" },
      { role: "user", content: "you idiot" },
      { role: "tool", content: "you idiot" },
    ];
    const { resultsValid } = await scanConversation(scanners, messages, { window: 2, toolScanners: scanners });
    expect(resultsValid).toMatchObject({ Toxicity: false, "Toxicity[window]": false, "Toxicity[tool]": false });
    expect(asked.sort()).toEqual(["the sky is blue\nyou idiot", "you idiot"]);
  });
});
