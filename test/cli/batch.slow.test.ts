import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));
const zebra = ["--scanner", "BanSubstrings", "--params", '{"substrings": ["zebra"], "redact": true}'];
/** A scanner that ends the process of some texts, and takes a while for others. */
const PLUGIN = `
import { defineScanner, passed } from ${JSON.stringify(pathToFileURL(join(dist, "plugin.js")))};
import { existsSync, writeFileSync } from "node:fs";
import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
export const Fragile = defineScanner({
  type: "Fragile",
  summary: "Ends processes.",
  sides: { input: {} },
  options: z.object({}),
  findings: [],
  examples: { passes: ["x"], fails: [] },
  create: () => ({
    async check(text) {
      if (text.includes("poison")) process.kill(process.pid, "SIGKILL");
      if (text.includes("once") && !existsSync("once")) {
        writeFileSync("once", "");
        process.kill(process.pid, "SIGKILL");
      }
      if (text.includes("slow")) await new Promise((resolve) => setTimeout(resolve, 20));
      return passed(text);
    },
  }),
});
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "guard-batch-"));
  writeFileSync(join(folder, "plugin.mjs"), PLUGIN);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, name);
const results = (name: string) =>
  readFileSync(path(name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const rows = (count: number, text = (index: number) => `a ${index % 3 === 0 ? "zebra" : "horse"} ${index}`) =>
  Array.from({ length: count }, (_, index) => ({ id: `row ${index}`, text: text(index) }));
const write = (name: string, lines: readonly unknown[]) =>
  writeFileSync(
    path(name),
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  );

function start(...args: string[]): { child: ChildProcess; stderr(): string; code: Promise<number | null> } {
  const child = spawn(process.execPath, [join(dist, "cli/main.js"), "scan", "--jsonl", ...args], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return { child, stderr: () => stderr, code: once(child, "close").then(([code]) => code) };
}

async function run(...args: string[]): Promise<{ code: number | null; stderr: string }> {
  const { code, stderr } = start(...args);
  return { code: await code, stderr: stderr() };
}

/** The processes that a process has started. */
const childrenOf = ({ pid }: ChildProcess) =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  );

describe("guard-scan scan --jsonl --output", () => {
  it("goes on after an interruption, with the commands of docs/batch.md", async () => {
    const docs = readFileSync(new URL("../../docs/batch.md", import.meta.url), "utf8");
    const [first = [], second = []] = [...docs.matchAll(/^npx guard-scan scan --jsonl (--file .*)$/gm)].map(
      ([, options = ""]) => options.split(" "),
    );
    const lines: unknown[] = rows(600);
    lines[100] = "not JSON";
    lines[590] = "not JSON";
    write("texts.jsonl", lines);
    writeFileSync(
      path("scanners.yml"),
      "input_scanners: [{type: BanSubstrings, params: {substrings: [zebra], redact: true}}]\n",
    );
    const counts = "guard: results.jsonl: 600 results, 200 failed, 2 errors\n";
    expect(await run(...first)).toEqual({ code: 2, stderr: expect.stringContaining(counts) });
    const text = readFileSync(path("results.jsonl"), "utf8");
    // The last result of an interrupted run may be incomplete.
    for (const length of [text.length / 2, text.length]) {
      writeFileSync(path("results.jsonl"), text.slice(0, length));
      expect(await run(...second)).toEqual({ code: 2, stderr: expect.stringContaining(counts) });
      expect(readFileSync(path("results.jsonl"), "utf8") === text, String(length)).toBe(true);
    }
  });

  it("lists no check that only monitors among the failing ones of CSV", async () => {
    write("monitored.jsonl", [{ text: "a zebra" }]);
    const params = (mode: string) => ["--params", JSON.stringify({ substrings: ["zebra"], mode })];
    for (const [mode, cells] of [
      ["enforce", "1,,false,BanSubstrings,"],
      ["monitor", "1,,true,,"],
    ] as const) {
      const options = ["--file", "monitored.jsonl", "--csv", "--output", `${mode}.csv`, "--scanner", "BanSubstrings"];
      await run(...options, ...params(mode));
      expect(readFileSync(path(`${mode}.csv`), "utf8")).toContain(cells);
    }
  });

  it("reports records of CSV with another number of fields, and scans the others", async () => {
    writeFileSync(path("rows.csv"), 'id,text\n1,a zebra\n2\n3,"a\nhorse"\n4,a,horse\n5,a horse\n');
    const { code, stderr } = await run("--file", "rows.csv", "--output", "of-csv.jsonl", ...zebra);
    expect(code).toBe(2);
    const different = "the number of fields differs from the header";
    expect(results("of-csv.jsonl").map(({ line, id, is_valid, error }) => [line, id, is_valid ?? error])).toEqual([
      [2, "1", false],
      [3, undefined, different],
      [5, "3", true],
      [6, undefined, different],
      [7, "5", true],
    ]);
    expect(stderr).toContain(`rows.csv, line 6: ${different}`);
  });

  it("goes on after SIGKILL", async () => {
    write(
      "slow.jsonl",
      rows(400, (index) => `slow ${index}`),
    );
    const args = ["--file", "slow.jsonl", "--output", "slow-results.jsonl", "--scanner", "./plugin.mjs#Fragile"];
    const { child, code } = start(...args);
    await vi.waitFor(() => expect(results("slow-results.jsonl").length).toBeGreaterThan(20), 20_000);
    child.kill("SIGKILL");
    await code;
    expect(results("slow-results.jsonl").length).toBeLessThan(400);
    expect((await run(...args, "--resume")).code).toBe(0);
    expect(results("slow-results.jsonl").map(({ line }) => line)).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
  });

  it("keeps results that it must not replace", async () => {
    write("two.jsonl", rows(2));
    const args = ["--file", "two.jsonl", ...zebra];
    writeFileSync(path("kept.jsonl"), "mine\n");
    const exists = await run(...args, "--output", "kept.jsonl");
    expect(exists).toMatchObject({ code: 2, stderr: expect.stringContaining("kept.jsonl exists") });
    const other = await run(...args, "--output", "kept.jsonl", "--resume");
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("kept.jsonl, line 1: not a result") });
    expect(readFileSync(path("kept.jsonl"), "utf8")).toBe("mine\n");
    await run(...args, "--output", "of-two.jsonl");
    write("others.jsonl", rows(5).reverse());
    const differs = await run("--file", "others.jsonl", "--output", "of-two.jsonl", "--resume", ...zebra);
    expect(differs).toMatchObject({ code: 2, stderr: expect.stringContaining("not those of others.jsonl") });
    expect(results("of-two.jsonl")).toHaveLength(2);
    const invalid = await run("--file", "two.jsonl", "--output", "new.jsonl", "--scanner", "Zebra");
    expect(invalid.code).toBe(2);
    expect(existsSync(path("new.jsonl"))).toBe(false);
  });
});

describe("guard-scan scan --jsonl --processes", () => {
  it("prints the results of one process, in order", async () => {
    const lines: unknown[] = rows(500);
    lines[250] = "not JSON";
    write("many.jsonl", lines);
    await run("--file", "many.jsonl", "--output", "of-one.jsonl", "--details", ...zebra);
    const { code } = await run("--file", "many.jsonl", "--output", "of-three.jsonl", "--processes", "3", ...zebra);
    expect(code).toBe(2);
    const verdicts = (name: string) =>
      results(name).map(({ line, id, is_valid, error }) => ({ line, id, is_valid, error }));
    expect(verdicts("of-three.jsonl")).toEqual(verdicts("of-one.jsonl"));
  });

  // The processes of a process are read from /proc.
  it.skipIf(process.platform !== "linux")("replaces a process that is killed, and loses no line", async () => {
    write(
      "killed.jsonl",
      rows(500, (index) => `slow ${index}`),
    );
    const output = ["--output", "killed-results.jsonl", "--processes", "2"];
    const { child, stderr, code } = start("--file", "killed.jsonl", ...output, "--scanner", "./plugin.mjs#Fragile");
    await vi.waitFor(() => expect(results("killed-results.jsonl").length).toBeGreaterThan(20), 20_000);
    const [victim] = childrenOf(child);
    process.kill(victim as number, "SIGKILL");
    expect(await code).toBe(0);
    expect(stderr()).toMatch(/a process has ended by SIGKILL; it is replaced, and \d+ lines are scanned again/);
    expect(results("killed-results.jsonl").map(({ id, is_valid }) => [id, is_valid])).toEqual(
      Array.from({ length: 500 }, (_, index) => [`row ${index}`, true]),
    );
  });

  it("reports a line that ends processes, and scans the lines beside it", async () => {
    write(
      "poison.jsonl",
      rows(60, (index) => ({ 20: "poison", 40: "once" })[index] ?? `slow ${index}`),
    );
    const { code, stderr } = await run(
      ...["--file", "poison.jsonl", "--output", "poison-results.jsonl", "--processes", "2"],
      ...["--scanner", "./plugin.mjs#Fragile"],
    );
    expect(code).toBe(2);
    expect(stderr).toContain("poison.jsonl, line 21: the process that scans this line ends");
    const errors = results("poison-results.jsonl").filter(({ error }) => error);
    expect(errors).toEqual([
      { line: 21, id: "row 20", error: expect.stringContaining("the process that scans this line ends") },
    ]);
    expect(results("poison-results.jsonl").map(({ line }) => line)).toEqual(
      Array.from({ length: 60 }, (_, i) => i + 1),
    );
  });

  it("reports invalid scanners once, and wrong numbers", async () => {
    appendFileSync(path("one.jsonl"), '"a"\n');
    const wrong = await run("--file", "one.jsonl", "--processes", "2", "--scanner", "Zebra");
    expect(wrong.code).toBe(2);
    expect(wrong.stderr.match(/Zebra/g)?.length).toBeLessThanOrEqual(2);
    expect(wrong.stderr).not.toContain("    at ");
    for (const number of ["0", "x"]) {
      expect((await run("--file", "one.jsonl", "--processes", number, ...zebra)).stderr).toContain("--processes");
    }
  });
});
