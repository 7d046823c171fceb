import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { fileReport } from "../../src/cli/doctor/file-report.ts";
import { ORDINARY_PROMPTS } from "../../src/cli/doctor/ordinary-prompts.ts";
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
/** Prompts without words that sound negative. */
const PROMPTS: string[] = JSON.parse(readFileSync("test/fixtures/ordinary-prompts.json", "utf8"));
/** Texts in eleven languages, some with a word that sounds negative. */
const TEXTS: { lang: string; text: string }[] = JSON.parse(
  readFileSync("test/fixtures/ordinary-texts-by-language.json", "utf8"),
);

/** Scans texts with the list, and returns the failing ones with the names of the scanners that fail them. */
async function failing(texts: readonly string[], list = LIST): Promise<Map<string, string[]>> {
  const scanners = list.map(([type, params]) => createScanner("input", type, params));
  for (const scanner of scanners) await scanner.load?.();
  const found = new Map<string, string[]>();
  for (const text of texts) {
    const { resultsValid } = await scanPrompt(scanners, text);
    const names = Object.keys(resultsValid).filter((name) => !resultsValid[name]);
    if (names.length > 0) found.set(text, names);
  }
  return found;
}

/** What the doctor says of false alarms of the list, by scanner. */
async function alarmsOf(list: typeof LIST): Promise<Map<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "guard-list-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "scanners.yml");
  writeFileSync(file, JSON.stringify({ input_scanners: list.map(([type, params]) => ({ type, params })) }));
  const alarms = (await fileReport(file, true)).filter(({ kind }) => kind === "alarms");
  return new Map(alarms.map(({ path, text }) => [(list[Number(path.split(".")[1])] as [string, unknown])[0], text]));
}

it("a hundred ordinary prompts pass llm-guard's own list of scanners", async () => {
  expect(PROMPTS.length).toBeGreaterThan(100);
  expect([...(await failing(PROMPTS))]).toEqual([]);
});

it("the doctor names the scanners of that list that fail ordinary texts, and the setting that passes them", async () => {
  const alarms = await alarmsOf(LIST);
  expect([...alarms.keys()]).toEqual(["BanCode", "BanCompetitors", "BanSubstrings", "Language", "Sentiment"]);
  expect(alarms.get("Sentiment")).toMatch(
    /^fails \d+ of \d+ ordinary prompts, such as ".*"\. With threshold: -0\.7 it fails none of them$/,
  );
  const texts = TEXTS.map(({ text }) => text);
  const found = await failing(texts);
  const names = [...found.values()].flat();
  // The texts are in eleven languages, and the list allows English only.
  expect(new Set(names)).toEqual(new Set(["Language", "Sentiment"]));
  expect(names.filter((name) => name === "Sentiment").length).toBeGreaterThan(4);
  expect([...(await failing(texts, [["Sentiment", { threshold: -0.7 }]]))]).toEqual([]);
}, 60_000);

it("guard's default list fails none of the doctor's prompts", async () => {
  const found = await failing(ORDINARY_PROMPTS, [
    ["PromptInjection", {}],
    ["Secrets", {}],
    ["InvisibleText", {}],
    ["Toxicity", {}],
  ]);
  expect([...found]).toEqual([]);
});
