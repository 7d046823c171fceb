import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { afterAll, describe, expect, it } from "vitest";
import { createScanner } from "../../src/scanners/catalog.ts";
import { multitaskModel } from "../support/model-fixtures.ts";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-calibrate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function guard(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [cli, "calibrate", ...args], { cwd: folder }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

function file(name: string, rows: readonly unknown[]): string {
  writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return name;
}

const harmless = ["My sister", "The gardener", "Nobody here", "An old friend of ours", "The committee"].flatMap(
  (subject) =>
    [
      "sells bread",
      "waters the roses",
      "has seen Leeds in May",
      "thx ok",
      "is late again, as ever",
      "counts to ten",
    ].map((rest) => `${subject} ${rest}.`),
);
const noise = ["sdkfjh wqeoiruy zxmcnbv lkjasdf qpwoeiru", "xkcjv qwpeori zmxncb alskdjf", "The committee meets here."];
const plain = file("plain.jsonl", harmless);
const labelled = file("labelled.jsonl", [
  ...harmless.map((text) => ({ text, label: "ham" })),
  ...noise.map((text) => ({ text, label: "noise" })),
]);

/** These texts are so plain that all of them are far below the default threshold. */
const FAR_FROM_DEFAULT = /^guard: warning: the threshold \S+ is far from the default 0\.97: .*\n$/;

describe("guard-scan calibrate", () => {
  it("finds the lowest threshold at which at most the given share of harmless texts fails", async () => {
    const { code, stdout, stderr } = await guard(plain, "--scanner", "Gibberish", "--fpr", "0.1", "--json");
    expect([code, stderr]).toEqual([0, expect.stringMatching(FAR_FROM_DEFAULT)]);
    const { threshold, falsePositives, recall, side, yaml, warnings } = JSON.parse(stdout);
    expect([side, recall, warnings]).toEqual(["input", undefined, [expect.stringContaining("far from the default")]]);
    expect(falsePositives.of).toBe(30);
    expect(falsePositives.count).toBeLessThanOrEqual(3);
    const [low, high] = falsePositives.interval;
    expect(low).toBeLessThanOrEqual(falsePositives.share);
    expect(high).toBeGreaterThan(falsePositives.share);

    // The settings that it prints for scanners.yml must treat the texts as it says.
    const failing = async (scanner: ReturnType<typeof createScanner>) =>
      (await Promise.all(harmless.map((text) => scanner.scan(text, {})))).filter(({ isValid }) => !isValid).length;
    const [{ type, params }] = load(yaml) as [{ type: string; params: { threshold: number } }];
    expect(params).toEqual({ threshold });
    expect(await failing(createScanner("input", type, params))).toBe(falsePositives.count);
    const lower = createScanner("input", type, { threshold: Math.max(0, threshold - 0.01) });
    expect(await failing(lower)).toBeGreaterThan(falsePositives.count);
  });

  it.each([
    ["Relevance", "threshold", "threshold"],
    ["FactualConsistency", "minimum_score", "minimum_score"],
    // The new value replaces the old one, however the option was spelt.
    ["FactualConsistency", "minimum_score", "minimumScore"],
  ])("writes the minimum of %s, the opposite of a threshold, as %s instead of %s", async (scanner, option, told) => {
    const answers = ["the sky is blue", "rain tomorrow", "Paris", "football match", "the grass is green"];
    const rows = answers.map((text) => ({ prompt: "the sky is blue and the grass is green .", text }));
    const args = ["--fpr", "0.4", "--json", "--params", JSON.stringify({ model: multitaskModel, [told]: 0.1 })];
    const { code, stdout } = await guard(file("answers.jsonl", rows), "--scanner", scanner, ...args);
    expect(code).toBe(0);
    const { threshold, value, yaml, falsePositives, option: written } = JSON.parse(stdout);
    expect(written).toBe(option);
    expect(value).toBeCloseTo(1 - threshold, 10);
    const [{ type, params }] = load(yaml) as [{ type: string; params: Record<string, unknown> }];
    expect(params).toEqual({ model: multitaskModel, [option]: value });
    const checked = createScanner("output", type, params);
    const verdicts = await Promise.all(rows.map(({ text, prompt }) => checked.scan(text, { prompt })));
    expect(verdicts.filter(({ isValid }) => !isValid)).toHaveLength(falsePositives.count);
  });

  it("shows the recall for positive texts, and keeps other parameters", async () => {
    const { stdout, stderr } = await guard(
      ...[labelled, "--scanner", "Gibberish", "--fpr", "0.1", "--positive", "noise"],
      ...["--params", '{"match_type": "sentence", "threshold": {"fpr": 0.5}}'],
    );
    expect(stdout).toMatch(/^Gibberish \(input\), at most 10\.00 % false positives\nthreshold +\d\S+\n/);
    expect(stdout).toMatch(/\nfalse positives +\d of 30: \d+\.\d\d % \(95 % interval \d+\.\d\d % to \d+\.\d\d %\)\n/);
    expect(stdout).toMatch(/\nrecall +2 of 3: 66\.67 % \(95 % interval 20\.77 % to 93\.85 %\)\n/);
    expect(stdout).toMatch(/\n- type: Gibberish\n {2}params:\n {4}match_type: sentence\n {4}threshold: \S+\n$/);
    // Three texts say little about the recall.
    const [few, far] = stderr.split(/(?<=\n)/);
    expect(few).toBe("guard: warning: 3 texts that should fail are too few for a recall: at least 40 are needed\n");
    expect(far).toMatch(FAR_FROM_DEFAULT);
  });

  it("warns of a threshold far from the default", async () => {
    const rows = Array.from({ length: 30 }, (_, index) => ({ text: `Please help me with my essay number ${index}.` }));
    const { stdout, stderr } = await guard(
      file("easy.jsonl", rows),
      "--scanner",
      "Gibberish",
      "--fpr",
      "0.2",
      "--json",
    );
    const { warnings } = JSON.parse(stdout);
    expect(warnings).toEqual([expect.stringMatching(/^the threshold 0\.\d+ is far from the default 0\.\d+: look at/)]);
    expect(stderr).toContain(warnings[0]);
  });

  it("warns if there are too few texts for a rate", async () => {
    const { code, stderr, stdout } = await guard(plain, "--scanner", "Gibberish", "--fpr", "0.01");
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^guard: warning: 30 harmless texts are too few for a rate of 0\.01: at least 300 are needed/,
    );
    expect(stdout).toMatch(/false positives +0 of 30/);
  });

  const links = file("links.jsonl", ["no link at all", "none here either"]);
  const noPrompt = file("no-prompt.jsonl", [{ text: "Paris", prompt: "the capital of France?" }, "Rome"]);
  const mixed = file("mixed.jsonl", ["a", { text: "b", label: "safe" }]);
  it.each([
    [[], /give a file of harmless texts/],
    [[plain, "--fpr", "0.1"], /--scanner is missing/],
    [[plain, "--scanner", "Gibberish"], /--fpr is missing/],
    [[plain, "--scanner", "Gibberish", "--fpr", "5"], /--fpr: expected a number between 0 and 1, got 5/],
    [[plain, "--scanner", "Gibberish", "--fpr", "0.1", "--positive", "noise"], /plain\.jsonl has no labels/],
    [[labelled, "--scanner", "Gibberish", "--fpr", "0.1"], /the label "ham" is ambiguous/],
    [[mixed, "--scanner", "Gibberish", "--fpr", "0.1"], /1 of 2 texts have no label/],
    [
      [plain, "--scanner", "BanSubstrings", "--params", '{"substrings": ["a"]}', "--fpr", "0.1"],
      /BanSubstrings has no probability, so there is no threshold to find/,
    ],
    [[links, "--scanner", "MaliciousURLs", "--fpr", "0.1"], /MaliciousURLs judges no text of links\.jsonl/],
    // This scanner's threshold applies to the score of a finding, not to the probability that a text fails.
    [
      [links, "--scanner", "Anonymize", "--params", '{"recognizer_conf": []}', "--fpr", "0.1"],
      /Anonymize has no probability that a text should fail: its threshold applies to another value/,
    ],
    [
      [plain, "--scanner", "Sentiment", "--fpr", "0.1"],
      /Sentiment has no probability that a text should fail: its threshold applies to another value/,
    ],
    [[noPrompt, "--scanner", "Relevance", "--fpr", "0.1"], /no-prompt\.jsonl, line 2: no prompt, which Relevance/],
  ])("rejects %j", async (args, message) => {
    const { code, stderr } = await guard(...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});
