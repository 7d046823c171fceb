import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/index.ts";
import { listModels } from "../../../src/index.ts";
import { type Evaluation, readEvaluation } from "../../../src/models/evaluation.ts";
import { createScanner } from "../../../src/scanners/catalog.ts";
import { GuardValidationError } from "../../../src/support/errors.ts";
import { hashOfWeights } from "../../../tools/cards/model-card.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-threshold-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const curve = {
  scanner: "Gibberish",
  settings: { labels: ["word salad", "noise", "mild gibberish"], matchType: "full" },
  rows: 1000,
  sources: { chat: 1000 },
  points: [
    [0, 0.999],
    [0.001, 0.98],
    [0.0098, 0.6],
    [0.02, 0],
  ],
};

const gibberish = fileURLToPath(new URL("../../../models/gibberish", import.meta.url));
const { version } = JSON.parse(readFileSync(join(gibberish, "config.json"), "utf8")).guard;

/** Copies the gibberish model with another evaluation. */
function modelWith(evaluation: unknown): string {
  const model = mkdtempSync(join(folder, "model-"));
  cpSync(gibberish, model, { recursive: true });
  // The manifest contains the evaluation of the embedded model.
  for (const file of ["evaluation.json", "manifest.json"]) rmSync(join(model, file), { force: true });
  if (evaluation !== undefined) writeFileSync(join(model, "evaluation.json"), JSON.stringify(evaluation));
  return model;
}

const identity = { name: "gibberish", version, sha256: "0".repeat(64) };
const evaluation = { model: identity, date: "2026-01-31", curves: [curve] };
const model = modelWith(evaluation);

/** The risk scores of a text show which threshold was used. */
async function scoreAt(threshold: unknown): Promise<number> {
  const scanner = createScanner("input", "Gibberish", { model, threshold });
  const { score } = await scanner.scan("The meeting starts at nine o'clock.", {});
  await scanner.close?.();
  return score;
}

describe("threshold: { fpr }", () => {
  it.each([
    [0.001, 0.98],
    [0.005, 0.98],
    [0.0098, 0.6],
    [0.01, 0.6],
    [0.5, 0],
  ])("uses the lowest threshold with a measured rate of at most %d", async (fpr, threshold) => {
    expect(await scoreAt({ fpr })).toBe(await scoreAt(threshold));
  });

  it("fails every text at a threshold of 0, and none at 1", async () => {
    expect(await scoreAt({ fpr: 0.5 })).toBeGreaterThan(0);
    expect(await scoreAt({ fpr: 0.01 })).toBeLessThan(0);
  });

  const failure = (side: "input" | "output", type: string, params: Record<string, unknown>) => {
    try {
      createScanner(side, type, params);
    } catch (error) {
      return error as GuardValidationError;
    }
  };

  it.each([
    [{ model, threshold: { fpr: 0.0009 } }, /^the curve was measured on 1000 texts, so 0\.001 is its lowest rate/],
    [
      { model, match_type: "sentence", threshold: { fpr: 0.01 } },
      /^the model's curve for Gibberish was measured with match_type "full"/,
    ],
    [
      { model: modelWith(undefined), threshold: { fpr: 0.01 } },
      /^the model has no curve of false positives for Gibberish/,
    ],
    [
      { model: modelWith({ ...evaluation, model: { ...identity, version: "0.0.9" } }), threshold: { fpr: 0.01 } },
      new RegExp(`^the curve was measured for version 0.0.9 of the model, which is ${version}`),
    ],
    [
      { model: modelWith({ ...evaluation, curves: [{ ...curve, points: [[0.5, 0.1]] }] }), threshold: { fpr: 0.01 } },
      /^the curve has no threshold at or below 0\.01/,
    ],
    [{ threshold: { fpr: 0 } }, /must be above 0, got 0/],
    [{ threshold: { fpr: 1 } }, /must be below 1, got 1/],
  ])("refuses %j", (params, message) => {
    const error = failure("input", "Gibberish", params);
    expect(error).toBeInstanceOf(GuardValidationError);
    expect(error?.issues).toEqual([{ path: "threshold.fpr", message: expect.stringMatching(message) }]);
  });

  it.each([
    ["input", "PromptInjection", { classifier: () => 0.5 }],
    ["input", "Code", { languages: ["Python"] }],
    ["output", "Language", { valid_languages: ["en"] }],
  ] as const)("refuses it for %s %s without a curve", (side, type, params) => {
    const error = failure(side, type, { ...params, threshold: { fpr: 0.01 } });
    expect(error?.issues).toEqual([
      {
        path: "threshold.fpr",
        message: expect.stringMatching(/no curve .*; guard-scan calibrate finds the threshold/),
      },
    ]);
  });

  it("names the valid thresholds", () => {
    const error = failure("input", "MaliciousURLs", { threshold: "high" });
    expect(error?.issues).toEqual([
      { path: "threshold", message: "expected a number from 0 to 1, or fpr, a false positive rate" },
    ]);
    const paths = failure("input", "BanCode", { threshold: { rate: 0.1 } })?.issues.map(({ path }) => path);
    expect(paths).toEqual(["threshold.fpr", "threshold.rate"]);
  });

  it("names a broken file", () => {
    const error = failure("input", "Gibberish", { model: modelWith({ curves: [] }), threshold: { fpr: 0.01 } });
    expect(error?.message).toMatch(/evaluation\.json cannot be used: .*model/);
  });

  it("is accepted in scanners.yml, also from the environment", () => {
    const text = `input_scanners:
  - { type: Gibberish, params: { threshold: { fpr: '\${RATE:0.01}' } } }
  - { type: BanCode, params: { threshold: '\${CODE}' } }`;
    const config = parseConfig(text, { env: { CODE: "0.5" } });
    expect(config.inputScanners.map(({ params }) => params)).toEqual([
      { threshold: { fpr: 0.01 } },
      { threshold: 0.5 },
    ]);
  });
});

describe("the evaluations of the embedded models", () => {
  const embedded = listModels().filter(({ source, folder: at }) => source === "embedded" && readEvaluation(at));

  it.each(embedded)("$model: belong to these weights", ({ folder: at }) => {
    const found = readEvaluation(at) as Evaluation;
    expect(found.model.sha256).toBe(hashOfWeights(at));
    expect(readFileSync(join(at, "CARD.md"), "utf8")).toContain(`measured on ${found.date}`);
  });

  it.each([
    ["PromptInjection", "prompt-injection"],
    ["Gibberish", "gibberish"],
    ["BanCode", "code"],
    ["MaliciousURLs", "malicious-urls"],
  ])("have a threshold for %s at one in a hundred and one in five hundred", (type) => {
    for (const fpr of [0.01, 0.002]) {
      expect(createScanner("input", type, { threshold: { fpr } }).type).toBe(type);
    }
    expect(() => createScanner("input", type, { threshold: { fpr: 1e-6 } })).toThrow(
      /threshold\.fpr: the curve was measured on/,
    );
  });
});
