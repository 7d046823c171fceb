import { describe, expect, it } from "vitest";
import { input } from "../../src/index.ts";
import { createScanner, scannerClasses, scannerTypes } from "../../src/scanners/catalog.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { scanned } from "../support/rewritten.ts";

describe("createScanner", () => {
  it("knows the scanners of both sides", () => {
    expect(scannerTypes("input")).toEqual([
      "Anonymize",
      "BanCode",
      "BanCompetitors",
      "BanSubstrings",
      "BanTopics",
      "Bias",
      "Canary",
      "Code",
      "DataExfiltration",
      "EmotionDetection",
      "Gibberish",
      "HarmfulContent",
      "InvisibleText",
      "Language",
      "MaliciousURLs",
      "PromptInjection",
      "Regex",
      "Secrets",
      "Sentiment",
      "SystemPromptLeak",
      "TokenLimit",
      "ToolDefinitions",
      "ToolPolicy",
      "Toxicity",
    ]);
    expect(scannerTypes("output")).toEqual([
      "BanCode",
      "BanCompetitors",
      "BanSubstrings",
      "BanTopics",
      "Bias",
      "Canary",
      "Code",
      "DataExfiltration",
      "Deanonymize",
      "EmotionDetection",
      "FactualConsistency",
      "Gibberish",
      "HarmfulContent",
      "InvisibleText",
      "JSON",
      "Language",
      "LanguageSame",
      "MaliciousURLs",
      "NoRefusal",
      "NoRefusalLight",
      "ReadingTime",
      "Regex",
      "Relevance",
      "Secrets",
      "Sensitive",
      "Sentiment",
      "SystemPromptLeak",
      "Toxicity",
      "URLReachability",
    ]);
  });

  it("accepts parameters in snake_case and camelCase", async () => {
    const text = "RED red";
    for (const params of [
      { substrings: ["red"], case_sensitive: true, redact_all: true },
      { substrings: ["red"], caseSensitive: true, redactAll: true },
    ]) {
      expect((await scanned(createScanner("input", "BanSubstrings", params), text, {})).rewritten).toBe(
        "RED [REDACTED]",
      );
    }
  });

  it("names scanners", () => {
    const scanner = createScanner("output", "Regex", { patterns: ["a"], name: "Letters" });
    expect([scanner.type, scanner.name]).toEqual(["Regex", "Letters"]);
  });

  it.each([
    ["Input", "Secrets", {}, "side", /^side: expected input or output; did you mean input\?$/],
    [undefined, "Secrets", {}, "side", /^side: expected input or output, got nothing$/],
    ["input", input.Secrets, {}, "type", /^type: expected the type of a scanner, .*, got a function$/],
    ["input", "Nothing", {}, "type", /unknown input scanner Nothing; known are: Anonymize, BanCode/],
    ["output", "TokenLimit", {}, "type", /unknown output scanner/],
    ["input", "TokenLimit", { limits: 5 }, "limits", /unknown key/],
    ["input", "TokenLimit", { limit: "5" }, "limit", /number/],
    ["input", "TokenLimit", { name: "TokenLimit[window]" }, "name", /expected another name/],
  ] as const)("refuses %s %s %j", (side, type, params, path, message) => {
    let error: unknown;
    try {
      createScanner(side as "input", type as string, params);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(GuardValidationError);
    expect((error as GuardValidationError).path).toBe(path);
    expect((error as GuardValidationError).message).toMatch(message);
  });

  it("documents every option", () => {
    for (const side of ["input", "output"] as const) {
      for (const [type, { options }] of scannerClasses(side)) {
        for (const [name, schema] of Object.entries(options.shape)) {
          expect((schema as { description?: string }).description, `${type}.${name}`).toBeTruthy();
        }
      }
    }
  });
});
