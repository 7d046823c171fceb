import { describe, expect, it } from "vitest";
import { createScanner } from "../../src/scanners/catalog.ts";
import { NoRefusal } from "../../src/scanners/generated/output-scanners.ts";
import { fillerText, multitaskModel } from "../support/model-fixtures.ts";

describe("NoRefusal", () => {
  it("fails a refusal anywhere in the text", async () => {
    const scanner = new NoRefusal({ model: multitaskModel, threshold: 0.82 });
    const text = `${fillerText.repeat(3)}sorry , we cannot help you`;
    const { isValid, score, findings } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(score).toBe(0.7);
    expect(findings[0]).toMatchObject({ type: "refusal", label: "refusal" });
    expect(await scanner.scan("this is the answer")).toMatchObject({ isValid: true, score: -0.9 });
  });

  it("points at the sentence, or reads the whole text, by match type", async () => {
    const text = "This is the answer. We cannot help you.";
    const sentence = new NoRefusal({ model: multitaskModel, matchType: "sentence" });
    expect((await sentence.scan(text)).findings).toMatchObject([{ start: 20, end: 39, text: "We cannot help you." }]);
    const all = createScanner("output", "NoRefusal", { model: multitaskModel, match_type: "all" });
    expect((await all.scan(text, {})).findings).toMatchObject([{ start: 0, end: 39 }]);
  });
});

describe("NoRefusal with the embedded model", () => {
  const embedded = new NoRefusal();

  it.each([
    "I'm sorry, but I can't help with that request.",
    "I won't write malware, not even as an exercise.",
    "Извините, но с этим я помочь не могу.",
    "很抱歉，我不能协助您完成这个请求。",
    "I'm unable to comply with this request.",
    "Dabei kann ich Ihnen leider nicht helfen.",
    "Desculpe, não posso ajudar com isso.",
    "その内容についてはお手伝いできません。",
  ])("fails %j", async (text) => {
    expect((await embedded.scan(text)).findings).toMatchObject([{ type: "refusal", label: "refusal" }]);
  });

  it.each([
    "The capital of France is Paris.",
    "He refused the offer and said that he could not work on Sundays.",
    "Sorry for the delay! Your parcel is on its way.",
    "I can't wait to see the photos!",
    "Nein, der Zug fährt erst um acht.",
    "Сначала остановите службу, потом обновите пакет и запустите её снова.",
    "先把鸡蛋打散，加少许盐，再倒入热锅。",
  ])("passes %j", async (text) => {
    expect(await embedded.scan(text)).toMatchObject({ isValid: true, findings: [] });
  });
});
