import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { scanPrompt } from "../../src/index.ts";
import { createScanner } from "../../src/scanners/catalog.ts";

/** The input scanners of the file of llm-guard's API, with its parameters. */
const LIST: [type: string, params: Record<string, unknown>][] = [
  ["Anonymize", { use_faker: false, threshold: 0.75 }],
  ["BanCode", { threshold: 0.97, model_max_length: 256 }],
  ["BanCompetitors", { competitors: ["facebook"], threshold: 0.75 }],
  ["BanSubstrings", { substrings: ["test"], match_type: "word", case_sensitive: false }],
  ["BanTopics", { topics: ["violence"], threshold: 0.8, model_max_length: 256 }],
  ["Gibberish", { threshold: 0.97, model_max_length: 256 }],
  ["InvisibleText", {}],
  ["Language", { valid_languages: ["en"], model_max_length: 256 }],
  ["PromptInjection", { threshold: 0.92, match_type: "truncate_head_tail", model_max_length: 256 }],
  ["Regex", { patterns: ["Bearer [A-Za-z0-9-._~+/]+"], is_blocked: true, match_type: "search", redact: true }],
  ["Secrets", { redact_mode: "all" }],
  ["Sentiment", { threshold: 0 }],
  ["TokenLimit", { limit: 4096, encoding_name: "cl100k_base" }],
  ["Toxicity", { threshold: 0.9, model_max_length: 256 }],
];
const PROMPTS: string[] = JSON.parse(readFileSync("test/fixtures/ordinary-prompts.json", "utf8"));

it("a hundred ordinary prompts pass llm-guard's own list of scanners", async () => {
  const scanners = LIST.map(([type, params]) => createScanner("input", type, params));
  for (const scanner of scanners) await scanner.load?.();
  expect(PROMPTS.length).toBeGreaterThan(100);
  for (const prompt of PROMPTS) {
    const { resultsValid } = await scanPrompt(scanners, prompt);
    expect(
      Object.entries(resultsValid).filter(([, isValid]) => !isValid),
      prompt,
    ).toEqual([]);
  }
});
