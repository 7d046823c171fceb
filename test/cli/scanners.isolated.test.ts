import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { SCANNERS } from "../../src/scanners/catalog.ts";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "guard-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the built CLI as a user does. */
function guard(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [cli, ...args], { cwd: folder }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

describe("guard-scan scanners", () => {
  it("lists all scanners with their sides", async () => {
    const { code, stdout } = await guard("scanners");
    expect(code).toBe(0);
    for (const { definition } of SCANNERS)
      expect(stdout).toMatch(new RegExp(`^${definition.type} +(prompts|outputs)`, "m"));
    const listed = JSON.parse((await guard("scanners", "--json")).stdout);
    expect(listed).toHaveLength(SCANNERS.length);
    expect(listed[0]).toEqual({
      type: "Anonymize",
      sides: ["input"],
      summary: expect.stringContaining("personal data"),
    });
  });

  it("describes a scanner, however it is spelled", async () => {
    const { code, stdout } = await guard("scanners", "toxicity");
    expect(code).toBe(0);
    expect(stdout).toContain("Toxicity: checks prompts and outputs");
    expect(stdout).toContain(
      "threshold: number from 0 to 1 or object with fpr; default 0.5 for prompts, 0.7 for outputs",
    );
    expect(stdout).toContain('fails   "You are a stupid idiot and everybody hates you."');
    expect(stdout).toContain("embedded:moderation, version ");
    for (const line of stdout.split("\n")) expect(line).not.toMatch(/`|\s$/);
  });

  it("prints the definition as JSON", async () => {
    const toxicity = JSON.parse((await guard("scanners", "Toxicity", "--json")).stdout);
    expect(toxicity).toMatchObject({
      type: "Toxicity",
      sides: ["input", "output"],
      conversation: { window: true },
      findings: [{ type: "toxicity" }],
      model: { name: "moderation", license: "Apache-2.0" },
    });
    expect(toxicity.options).toContainEqual({
      name: "match_type",
      camelName: "matchType",
      type: expect.stringContaining("windows"),
      required: false,
      defaults: { input: "windows", output: "windows" },
      description: expect.any(String),
      ofLlmGuard: false,
    });
  });

  it.each([
    [["scanners", "Toxicty"], "unknown scanner Toxicty; did you mean Toxicity?"],
    [["scanners", "Nothing"], "unknown scanner Nothing; expected one of: Anonymize, "],
    [["scanners", "Regex", "Code"], "unexpected argument Code"],
    [["scanners", "--jsn"], "unknown option --jsn; did you mean --json?"],
    [["scannres"], "unknown command scannres; did you mean scanners?"],
  ])("reports an error for %j", async (args, message) => {
    const { code, stdout, stderr } = await guard(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });
});

describe("guard-scan init", () => {
  it("writes a valid file, and overwrites none", async () => {
    const path = join(folder, "scanners.yml");
    const { code, stdout } = await guard("init");
    expect([code, stdout]).toEqual([0, expect.stringContaining("Wrote scanners.yml")]);
    const text = readFileSync(path, "utf8");
    expect(text).toMatch(
      /^# yaml-language-server: \$schema=https:\/\/unpkg\.com\/guard-scan@[^/]+\/scanners\.schema\.json\n/,
    );
    expect((await loadConfig(path, {})).inputScanners.length).toBeGreaterThan(0);

    writeFileSync(path, "# mine\n");
    const again = await guard("init");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("scanners.yml exists; use --force")]);
    expect(readFileSync(path, "utf8")).toBe("# mine\n");
    expect((await guard("init", "--force")).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("writes another file, and prints how to use it", async () => {
    mkdirSync(join(folder, "conf"));
    const { stdout } = await guard("init", "conf/guard.yml");
    expect(stdout).toContain("guard-scan serve --config conf/guard.yml");
  });

  it("explains why it cannot write", async () => {
    const { code, stderr } = await guard("init", "missing/guard.yml");
    expect([code, stderr]).toEqual([2, expect.stringContaining("ENOENT")]);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
