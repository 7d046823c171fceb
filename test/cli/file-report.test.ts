// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of the files under test
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fileReport, type Note } from "../../src/cli/doctor/file-report.ts";
import { exclusiveClassifier, multitaskModel } from "../support/model-fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-report-"));
afterAll(() => rmSync(folder, { recursive: true }));

function report(text: string, measured = false): Promise<Note[]> {
  const path = join(folder, "scanners.yml");
  writeFileSync(path, text);
  return fileReport(path, measured);
}

const FILE = `app:
  scan_prompt_timeout: \${SCAN_PROMPT_TIMEOUT:10}
input_scanners:
  - type: Regex
    params:
      patterns: ["x"]
      match_type: search
  - type: Toxicity
    params:
      threshold: 0.9
      model_max_length: 256
      low_cpu_mem_usage: true
  - type: PromptInjection
    params:
      model_path: ${exclusiveClassifier}
      model_onnx_file_name: model.onnx
  - type: PromptInjection
    name: Ours
    params: { model: example-org/example-model, match_type: full }
`;

describe("fileReport", () => {
  it("names the scanners that only monitor, and those that are off", async () => {
    const notes = await report(`app: { mode: { output: monitor } }
input_scanners:
  - { type: Regex, params: { patterns: ["x"], mode: { tool: monitor } } }
  - { type: Secrets, mode: off }
output_scanners:
  - type: Secrets
`);
    expect(notes.filter(({ kind }) => kind === "mode").map(({ line, text }) => `${line} ${text}`)).toEqual([
      "3 Regex (tool) only monitors: failing texts go on unchanged",
      "4 Secrets is off",
      "6 Secrets only monitors: failing texts go on unchanged",
    ]);
  });

  it("explains a file line by line", async () => {
    const notes = await report(FILE);
    expect(notes.map(({ line, kind }) => `${line} ${kind}`)).toEqual([
      ...["1 differs", "2 differs"],
      ...["4 runs", "4 differs", "4 differs"],
      ...["8 runs", "8 differs", "8 differs", "8 differs", "8 differs", "12 ignored"],
      ...["13 runs", "13 differs"],
      ...["17 runs", "17 download"],
    ]);
    const of = (line: number, kind: string) => notes.filter((note) => note.line === line && note.kind === kind);
    expect(of(8, "runs")).toEqual([
      {
        line: 8,
        path: "input_scanners.1",
        kind: "runs",
        text: expect.stringMatching(/^Toxicity with embedded:moderation \(\d+\.\d MB; Apache-2\.0/),
      },
    ]);
    expect(of(8, "differs").map(({ text }) => text)).toEqual([
      expect.stringContaining("obscene words alone do not count"),
      expect.stringContaining("match_type: full"),
      expect.stringMatching(/guard(?:-scan)? calibrate/),
      expect.stringContaining("on_untrained_language"),
    ]);
    expect(of(4, "differs")[0]?.text).toMatch(/^Every pattern is applied/);
    expect(of(12, "ignored")[0]).toMatchObject({ path: "input_scanners.1.params.low_cpu_mem_usage" });
    expect(of(13, "runs")[0]?.text).toContain(`PromptInjection with ${exclusiveClassifier}:model.onnx`);
    expect(of(17, "runs")[0]?.text).toBe("Ours with example-org/example-model");
    expect(of(17, "download")[0]?.text).toContain("guard-scan models pull example-org/example-model");
  });

  it("reports that a running server downloads nothing", async () => {
    const notes = await report(FILE.replace("app:", "app:\n  lazy_load: true"));
    expect(notes.filter(({ kind }) => kind === "fails")).toEqual([
      expect.objectContaining({ line: 18, text: expect.stringMatching(/^with app\.lazy_load/) }),
    ]);
  });

  it("measures scanners, and reports which cannot run", async () => {
    const notes = await report(
      `output_scanners: [{type: ReadingTime, params: {max_time: 5}},
        {type: Toxicity, params: {model: ${multitaskModel}}}, {type: Toxicity, params: {model: ${exclusiveClassifier}}}]`,
      true,
    );
    const said = notes.filter(({ kind }) => kind !== "differs");
    expect(said.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^ReadingTime, [\d.]+ ms for 1,000 characters here$/),
      ...said.slice(1, -1).map(({ text }) => text),
      expect.stringMatching(/^Toxicity#?2? does not run: labels: the model has no label/),
    ]);
    expect(said.some(({ text }) => /[\d.]+ ms for 1,000 characters/.test(text) && !text.startsWith("Reading"))).toBe(
      true,
    );
  });

  it("names the lines that prevent the start", async () => {
    expect(await report("app:\n  prot: 1\ninput_scanners:\n  - type: Toxicty\n")).toEqual([
      { line: 2, path: "app.prot", kind: "fails", text: "unknown key; did you mean port?" },
      {
        line: 4,
        path: "input_scanners.0.type",
        kind: "fails",
        text: expect.stringContaining("did you mean Toxicity?"),
      },
    ]);
    expect(await report("input_scanners:\n  - type: Toxicity\n    params:\n      model_path: ./no\n")).toEqual([
      { line: 4, path: "input_scanners.0.params.model_path", kind: "fails", text: expect.stringContaining("./no") },
    ]);
  });
});

it("reports a folder that is no model, such as one of PyTorch", async () => {
  const notes = await report(`input_scanners:\n  - { type: Toxicity, params: { model_path: "${folder}" } }\n`);
  expect(notes.map(({ kind }) => kind)).not.toContain("download");
  expect(notes.find(({ kind }) => kind === "fails")?.text).toContain("ONNX");
});

it("reports no difference of an option that is off", async () => {
  const notes = async (redact: boolean) =>
    (await report(`input_scanners:\n  - { type: BanSubstrings, params: { substrings: [a], redact: ${redact} } }\n`))
      .filter(({ kind }) => kind === "differs")
      .map(({ text }) => text)
      .join("\n");
  expect(await notes(true)).toContain("redact replaces the first occurrence");
  expect(await notes(false)).not.toContain("redact replaces the first occurrence");
});

describe("the report of a file that was written for guard", () => {
  it.each([
    ["names its schema", "# yaml-language-server: $schema=./scanners.schema.json\n"],
    ["has a setting that llm-guard does not have", "app: { workers: 2 }\n"],
    ["has a section that llm-guard does not have", "conversation: { window: 2 }\n"],
  ])("says nothing of llm-guard if it %s", async (_what, start) => {
    const notes = await report(`${start}input_scanners:\n  - type: Regex\n    params: { patterns: ["x"] }\n`);
    expect(notes.map(({ kind }) => kind)).toEqual(["runs"]);
  });
});
