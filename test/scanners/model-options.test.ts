import { describe, expect, it } from "vitest";
import { GuardValidationError } from "../../src/errors.ts";
import type { Side } from "../../src/scanner.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { filler, judges } from "../support/judges.ts";

/** The scanners of both sides for which llm-guard's API configures a model, with the parameters that they must have. */
const WITH_MODELS: [Side, string, Record<string, unknown>][] = [
  ["input", "Anonymize", {}],
  ["input", "BanCode", {}],
  ["input", "BanCompetitors", { competitors: ["Acme"] }],
  ["input", "BanTopics", { topics: ["sports"] }],
  ["input", "Code", { languages: ["Python"] }],
  ["input", "EmotionDetection", {}],
  ["input", "Gibberish", {}],
  ["input", "Language", { valid_languages: ["en"] }],
  ["input", "PromptInjection", {}],
  ["input", "Toxicity", {}],
  ["output", "BanCode", {}],
  ["output", "BanCompetitors", { competitors: ["Acme"] }],
  ["output", "BanTopics", { topics: ["sports"] }],
  ["output", "Bias", {}],
  ["output", "Code", { languages: ["Python"] }],
  ["output", "EmotionDetection", {}],
  ["output", "FactualConsistency", {}],
  ["output", "Gibberish", {}],
  ["output", "Language", { valid_languages: ["en"] }],
  ["output", "LanguageSame", {}],
  ["output", "MaliciousURLs", {}],
  ["output", "NoRefusal", {}],
  ["output", "Relevance", {}],
  ["output", "Sensitive", {}],
  ["output", "Toxicity", {}],
];

describe("llm-guard's options of models", () => {
  it.each(WITH_MODELS)("are taken by %s %s, but for its files", (side, type, params) => {
    const scanner = createScanner(side, type, {
      ...params,
      ...{ use_onnx: true, model_max_length: 256, model_batch_size: 4 },
    });
    expect(scanner.type).toBe(type);
    const written = ["Anonymize", "Sensitive"].includes(type) ? "recognizer_conf" : "model";
    for (const option of ["modelPath", "modelOnnxFileName"]) {
      const make = () => createScanner(side, type, { ...params, [option]: "x" });
      expect(make).toThrow(GuardValidationError);
      expect(make).toThrow(new RegExp(`^${option}: write ${written}: a folder`));
    }
    expect(() => createScanner(side, type, { ...params, model_max_length: 0 })).toThrow(/^modelMaxLength: /);
    expect(() => createScanner(side, type, { ...params, model_batch_size: 0 })).toThrow(/^modelBatchSize: /);
  });

  it.each([
    ["input", "Toxicity", {}],
    ["input", "EmotionDetection", {}],
    ["input", "BanTopics", { topics: ["sports"] }],
    ["output", "Bias", {}],
    ["output", "NoRefusal", {}],
    ["output", "Relevance", {}],
  ] as const)("model_max_length makes the windows of %s %s shorter", async (side, type, params) => {
    const windows = async (more: object) => {
      const scanner = createScanner(side, type, { ...params, model: judges, ...more });
      const { coverage } = await scanner.scan(filler.repeat(4), side === "output" ? { prompt: "who won ?" } : {});
      await scanner.close?.();
      expect(coverage.truncated).toBe(false);
      return coverage.windows;
    };
    expect(await windows({ model_max_length: 12 })).toBeGreaterThan((await windows({})) + 3);
  });

  it("model_max_length makes the pairs of FactualConsistency shorter", async () => {
    const scanner = createScanner("output", "FactualConsistency", { model: judges, model_max_length: 4 });
    const scan = scanner.scan("the sky is blue.", { prompt: "the sky is blue" });
    await expect(scan).rejects.toThrow(/^modelMaxLength: a pair of texts needs 6 tokens/);
  });

  it("model_max_length makes the model for names read less at once", async () => {
    // There is room for two special tokens and one token of the text, so a name of several tokens is never found whole.
    const text = "I am John Smith .";
    const found = async (more: Record<string, unknown>) => {
      const scanner = createScanner("output", "Sensitive", more);
      const { findings } = await scanner.scan(text, {});
      await scanner.close?.();
      return findings.map(({ text }) => text);
    };
    expect(await found({})).toEqual(["John Smith"]);
    expect(await found({ model_max_length: 3 })).not.toContain("John Smith");
  });

  it("model_batch_size is no setting that a curve of thresholds does not hold for", () => {
    const params = { threshold: { fpr: 0.01 }, model_batch_size: 4 };
    expect(createScanner("input", "Toxicity", params).type).toBe("Toxicity");
    expect(createScanner("input", "Gibberish", { ...params, model_max_length: 256 }).type).toBe("Gibberish");
  });
});
