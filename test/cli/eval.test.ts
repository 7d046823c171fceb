import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { binaryFigures, labelFigures } from "../../src/cli/metrics.ts";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-eval-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function guard(
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, "eval", ...args],
      { cwd: folder, env: { ...process.env, GUARD_EVAL_DATA: "", ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return name;
}

const animals = [
  { text: "a zebra", label: "animal", kind: "short" },
  { text: "two zebras in a field", label: "animal", kind: "long" },
  { text: "a lion", label: "animal", kind: "short" },
  { text: "a zebra crossing", label: "street", kind: "long" },
  { text: "a road", label: "street", kind: "short" },
];
file("animals.jsonl", animals.map((row) => `${JSON.stringify(row)}\n`).join(""));
file("animals.jsonl.gz", gzipSync(`${JSON.stringify(animals[0])}\n\n${JSON.stringify(animals[4])}`));

const suite = file(
  "suite.yml",
  `make: python make.py
evaluations:
  - name: Zebras
    scanner: BanSubstrings
    params: { substrings: [zebra], match_type: word }
    file: animals.jsonl
    positives: [animal]
    by: kind
  - { scanner: BanSubstrings, side: output, params: { substrings: [zebra] }, file: animals.jsonl.gz, negatives: [street] }
  - { scanner: Regex, params: { patterns: [animal, road] }, file: animals.jsonl, otherwise: street }
  - { scanner: Regex, params: { patterns: ALL, is_blocked: true }, file: animals.jsonl, otherwise: street }
`,
);

describe("guard eval", () => {
  it("measures scanners on labelled texts", async () => {
    const { code, stdout } = await guard(["--suite", suite, "--data", ".", "--json"]);
    expect(code).toBe(0);
    const results = JSON.parse(stdout);
    expect(results).toHaveLength(4);
    // Of the three animals the first is found, of the two streets the first.
    expect(results[0]).toMatchObject({
      name: "Zebras",
      side: "input",
      file: "animals.jsonl",
      all: {
        rows: 5,
        positives: 3,
        accuracy: 2 / 5,
        precision: 1 / 2,
        recall: 1 / 3,
        f1: 2 / 5,
        falsePositives: 1 / 2,
      },
      groups: { short: { rows: 3, positives: 2, accuracy: 2 / 3 }, long: { rows: 2, accuracy: 0 } },
    });
    expect(results[0].textsPerSecond).toBeGreaterThan(0);
    expect(results[1]).toMatchObject({ side: "output", all: { rows: 2, accuracy: 1, auc: 1, falsePositives: 0 } });
    // No text has the pattern animal; "a road" has the other, which is no label.
    expect(results[2]).toMatchObject({ all: { rows: 5, accuracy: 1 / 5 } });
    expect(results[3]).toMatchObject({ all: { rows: 5, accuracy: 2 / 5 } });
  });

  it("prints a table, of the evaluations that are asked for", async () => {
    const { code, stdout } = await guard(["--suite", suite, "--only", "Zebras"], { GUARD_EVAL_DATA: folder });
    expect(code).toBe(0);
    const [head, titles, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^Zebras \(input\), animals\.jsonl: \d+ texts\/s$/);
    expect(titles).toMatch(/ROWS +POSITIVE +ACCURACY +PRECISION +RECALL +F1 +FPR +AUC/);
    expect(rows.map((row) => row.split(/ +/)[0])).toEqual(["long", "short", "all"]);
    expect(rows[2]).toMatch(/^all +5 +3 +40\.00 +50\.00 +33\.33 +40\.00 +50\.00/);
  });

  it.each([
    [["--data", "."], /--suite is missing/],
    [["--suite", suite], /give --data or set GUARD_EVAL_DATA/],
    [["--suite", "nothing.yml", "--data", "."], /nothing\.yml/],
    [["--suite", suite, "--data", ".", "--only", "Lions"], /has no evaluation Lions/],
    [
      ["--suite", suite, "--data", "/nowhere"],
      /\/nowhere has no animals\.jsonl, animals\.jsonl\.gz\n.*python make\.py/,
    ],
  ])("refuses %j", async (args, message) => {
    const { code, stderr } = await guard(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it("names what is wrong with a suite or a file", async () => {
    const wrong = async (evaluation: string) => {
      const name = file("wrong.yml", `evaluations: [${evaluation}]`);
      return (await guard(["--suite", name, "--data", "."])).stderr;
    };
    expect(await wrong("{ scanner: Regex, file: animals.jsonl }")).toMatch(/expected one of: positives, negatives/);
    expect(await wrong("{ scanner: Regex, file: animals.jsonl, positives: [a], colour: red }")).toMatch(/colour/);
    expect(await wrong("{ scanner: Nothing, file: animals.jsonl, positives: [a] }")).toMatch(/unknown input scanner/);
    file("bad.jsonl", '{"text": "a", "label": "b"}\n{"text": 5}\n');
    expect(await wrong("{ scanner: Regex, file: bad.jsonl, positives: [a] }")).toMatch(
      /bad\.jsonl, line 2: expected an object/,
    );
    file("empty.jsonl", "");
    expect(await wrong("{ scanner: Regex, file: empty.jsonl, positives: [a] }")).toMatch(/empty\.jsonl has no rows/);
  });
});

describe("figures", () => {
  it("counts equal scores half in the area under the curve", () => {
    const outcome = (positive: boolean, score: number) => ({ positive, failed: score > 0, score });
    const mixed = [outcome(true, 0.5), outcome(true, -0.5), outcome(false, -0.5), outcome(false, -1)];
    expect(binaryFigures(mixed).auc).toBe(3.5 / 4);
    expect(binaryFigures([outcome(true, 1), outcome(false, -1)])).toEqual({
      rows: 2,
      positives: 1,
      accuracy: 1,
      precision: 1,
      recall: 1,
      f1: 1,
      falsePositives: 0,
      auc: 1,
    });
  });

  it("leaves out shares of nothing", () => {
    expect(binaryFigures([{ positive: false, failed: false, score: -1 }])).toEqual({
      rows: 1,
      positives: 0,
      accuracy: 1,
      falsePositives: 0,
    });
  });

  it("compares labels", () => {
    expect(
      labelFigures([
        { label: "a", found: "a" },
        { label: "b", found: "a" },
      ]),
    ).toEqual({ rows: 2, accuracy: 0.5 });
  });
});
