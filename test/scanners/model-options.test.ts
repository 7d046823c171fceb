import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Side } from "../../src/scan/scanner.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { modelNames } from "../../src/scanners/model-names.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { exclusiveClassifier, fillerText, multitaskModel } from "../support/model-fixtures.ts";

const names = fileURLToPath(new URL("../fixtures/names", import.meta.url));

/** The scanners of both sides whose model llm-guard's API configures, with their required parameters. */
const WITH_MODELS: [Side, string, Record<string, unknown>][] = [
  ["input", "Anonymize", {}],
  ["input", "BanCode", {}],
  ["input", "Bias", {}],
  ["input", "BanCompetitors", { competitors: ["Acme"] }],
  ["input", "BanTopics", { topics: ["sports"] }],
  ["input", "Code", { languages: ["Python"] }],
  ["input", "EmotionDetection", {}],
  ["input", "Gibberish", {}],
  ["input", "HarmfulContent", {}],
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
  ["output", "HarmfulContent", {}],
  ["output", "Language", { valid_languages: ["en"] }],
  ["output", "LanguageSame", {}],
  ["output", "MaliciousURLs", {}],
  ["output", "NoRefusal", {}],
  ["output", "Relevance", {}],
  ["output", "Sensitive", {}],
  ["output", "Toxicity", {}],
];

describe("llm-guard's options of models", () => {
  it.each(WITH_MODELS)("are accepted by %s %s", (side, type, params) => {
    const scanner = createScanner(side, type, {
      ...params,
      ...{ use_onnx: true, model_max_length: 256, model_batch_size: 4, low_cpu_mem_usage: true, device: 0 },
      ...{ kwargs: {}, tokenizer_kwargs: null, pipeline_kwargs: { truncation: true }, torch_dtype: "float16" },
      ...{ model_path: null, model_onnx_file_name: "" },
    });
    expect(scanner.type).toBe(type);
    const make = () => createScanner(side, type, { ...params, model_path: "./nowhere" });
    expect(make).toThrow(GuardValidationError);
    expect(make).toThrow(/^modelPath: .*\.\/nowhere/);
    expect(() => createScanner(side, type, { ...params, model_max_length: 0 })).toThrow(/^modelMaxLength: /);
    expect(() => createScanner(side, type, { ...params, model_batch_size: 0 })).toThrow(/^modelBatchSize: /);
  });

  it.each([
    [{ model_path: exclusiveClassifier }],
    [{ model_path: exclusiveClassifier, model_onnx_file_name: "model.onnx" }],
    [{ model_path: exclusiveClassifier, onnx_filename: "model.onnx" }],
    [{ model: exclusiveClassifier, onnx_filename: "model.onnx" }],
    [{ model: `${exclusiveClassifier}:model.onnx` }],
    [{ modelPath: exclusiveClassifier, modelOnnxFileName: "model.onnx" }],
  ])("rename the files of a model: %j", async (params) => {
    const scanner = createScanner("input", "PromptInjection", params);
    const [calm, attack] = await Promise.all(["calm", "attack"].map((text) => scanner.scan(text)));
    await scanner.close();
    expect([calm?.isValid, attack?.isValid]).toEqual([true, false]);
  });

  it("find an ONNX file in a subfolder of the tokenizer's folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "guard-model-path-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    cpSync(exclusiveClassifier, folder, { recursive: true });
    mkdirSync(join(folder, "onnx"));
    renameSync(join(folder, "model.onnx"), join(folder, "onnx", "model_quantized.onnx"));
    const params = { model_path: folder, model_onnx_file_name: "onnx/model_quantized.onnx" };
    const scanner = createScanner("input", "PromptInjection", params);
    expect((await scanner.scan("attack")).isValid).toBe(false);
    await scanner.close();
    expect(() => createScanner("input", "PromptInjection", { ...params, model_onnx_file_name: "model.onnx" })).toThrow(
      /^modelPath: the folder .* has no file model\.onnx; its ONNX files are: onnx.model_quantized\.onnx$/,
    );
  });

  it.each([
    [{ model: exclusiveClassifier, model_path: exclusiveClassifier }, "modelPath: is given twice: also as model"],
    [
      { model_path: exclusiveClassifier, model_onnx_file_name: "a.onnx", onnx_filename: "b.onnx" },
      "onnxFilename: is given twice",
    ],
    [{ model_path: 7 }, "modelPath: expected a text, got a number"],
  ])("reject a model that is given twice, or by a number: %j", (params, message) => {
    expect(() => createScanner("input", "PromptInjection", params)).toThrow(message);
  });

  it("name the NER models", () => {
    const params = { model_path: names, entity_types: ["PERSON"] };
    expect(modelNames(createScanner("input", "Anonymize", params))).toEqual([names]);
    expect(() => createScanner("input", "Anonymize", { model_path: exclusiveClassifier })).toThrow(
      /^modelPath: it judges texts/,
    );
  });

  it.each([
    ["input", "Toxicity", {}],
    ["input", "EmotionDetection", {}],
    ["input", "BanTopics", { topics: ["sports"] }],
    ["output", "Bias", {}],
    ["output", "NoRefusal", {}],
    ["output", "Relevance", {}],
  ] as const)("model_max_length shortens the windows of %s %s", async (side, type, params) => {
    const windows = async (more: object) => {
      const scanner = createScanner(side, type, { ...params, model: multitaskModel, ...more });
      const { coverage } = await scanner.scan(fillerText.repeat(4), side === "output" ? { prompt: "who won ?" } : {});
      await scanner.close?.();
      expect(coverage.truncated).toBe(false);
      return coverage.windows;
    };
    expect(await windows({ model_max_length: 12 })).toBeGreaterThan((await windows({})) + 3);
  });

  it("model_max_length shortens the pairs of FactualConsistency", async () => {
    const scanner = createScanner("output", "FactualConsistency", { model: multitaskModel, model_max_length: 4 });
    const scan = scanner.scan("the sky is blue.", { prompt: "the sky is blue" });
    await expect(scan).rejects.toThrow(/^modelMaxLength: a pair of texts needs 6 tokens/);
  });

  it("model_max_length shortens the input of the NER model", async () => {
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

  it("model_batch_size does not invalidate the curve of thresholds", () => {
    const params = { threshold: { fpr: 0.01 }, model_batch_size: 4 };
    expect(createScanner("input", "Toxicity", params).type).toBe("Toxicity");
    expect(createScanner("input", "Gibberish", { ...params, model_max_length: 256 }).type).toBe("Gibberish");
  });
});
