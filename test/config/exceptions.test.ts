import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { checkConfig, parseConfig } from "../../src/config/index.ts";
import { risksOf } from "../../src/config/risks.ts";
import { createGuard, Exceptions, GuardValidationError } from "../../src/index.ts";

const KEY = "cd".repeat(32);
const TEXT = "The falcon has landed.";

const FILE = `
input_scanners:
  - type: BanSubstrings
    name: Birds
    params: { substrings: [falcon] }
    allow:
      - { id: shop, substring: Falcon Street, reason: our address, expires: 2999-01-31 }
      - { text_hash: HASH, reason: code word, expires: 2999-01-31 }
output_scanners:
  - type: BanSubstrings
    params: { substrings: [falcon] }
allow:
  - { id: tools, scanners: [Birds], sources: [tool], reason: a wiki of birds, expires: "2999-01-31T12:00:00Z" }
profiles:
  strict:
    input_scanners:
      - type: BanSubstrings
        params: { substrings: [falcon] }
`;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Runs the command line in this repository. */
async function guardScan(args: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ["dist/cli/main.js", ...args], {
      env: { ...process.env, ...env },
    });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout + stderr };
  }
}

function issuesOf(make: () => unknown): string[] {
  try {
    make();
  } catch (error) {
    if (error instanceof GuardValidationError) return error.issues.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

describe("allow in a configuration", () => {
  it("excepts texts of one scanner, and of named scanners", async () => {
    const { out } = await guardScan(["hash-text", TEXT], { GUARD_EXCEPTIONS_KEY: KEY });
    vi.stubEnv("GUARD_EXCEPTIONS_KEY", KEY);
    const guard = await createGuard({ config: parseConfig(FILE.replace("HASH", out.trim())) });
    onTestFinished(() => guard.close());
    const isValid = async (text: string, source: "user" | "tool" = "user") =>
      (await guard.call().texts([text], source)).report?.isValid;
    expect(await isValid("Our shop is in Falcon Street.")).toBe(true);
    expect(await isValid("Falcon Street has a falcon.")).toBe(false);
    expect(await isValid(TEXT)).toBe(true);
    expect(await isValid("The falcon has flown.")).toBe(false);
    expect(await isValid("The falcon has flown.", "tool")).toBe(true);
    // The exceptions of an entry do not apply to the other side.
    expect((await guard.call().answer({ text: TEXT })).report.isValid).toBe(false);
  });

  it("needs the key of its hashes", async () => {
    vi.stubEnv("GUARD_EXCEPTIONS_KEY", "");
    const config = parseConfig(FILE.replace("HASH", `hmac-sha256:${"0".repeat(64)}`));
    await expect(createGuard({ config })).rejects.toThrow(/GUARD_EXCEPTIONS_KEY.*hash-text/);
  });

  it("is checked, with the path and the line", () => {
    const wrong = (from: string, to: string) =>
      issuesOf(() => parseConfig(FILE.replace("HASH", `hmac-sha256:${"0".repeat(64)}`).replace(from, to)));
    expect(wrong("[Birds]", "[Fish]")).toEqual([
      expect.stringMatching(/^allow\.0\.scanners\.0: there is no scanner Fish/),
    ]);
    expect(wrong("sources: [tool],", "")).toEqual([expect.stringMatching(/^allow\.0: expected what it excepts/)]);
    expect(wrong("expires: 2999-01-31", "expires: 2999-13-31")).toEqual([
      expect.stringMatching(/^input_scanners\.0\.allow\.0\.expires: expected a date/),
    ]);
    expect(wrong("substring: Falcon Street,", 'pattern: ".*",')).toEqual([]);
  });

  it("names the place of a pattern that cannot work", async () => {
    const config = parseConfig(FILE.replace("text_hash: HASH", 'pattern: ".*"'));
    await expect(createGuard({ config })).rejects.toMatchObject({
      issues: [{ path: "input_scanners.0.allow.1.pattern", message: expect.stringMatching(/empty text/) }],
    });
  });

  it("warns of exceptions that have expired", () => {
    const input = { inputScanners: [{ type: "Toxicity" }] };
    const one = { scanners: ["Toxicity"], substring: "old joke", reason: "funny", expires: "2021-05-01" };
    const risks = risksOf(checkConfig({ ...input, allow: [one, { ...one, expires: "2999-05-01" }] }), {
      env: {},
      returnsVaults: false,
      requestsReviews: false,
      isPublic: false,
    });
    expect(risks.map(({ about, text }) => `${about}: ${text}`)).toEqual([
      expect.stringMatching(/^allow\.0: the exception ex-[0-9a-f]{12} \(funny\) expired on 2021-05-01/),
    ]);
  });
});

describe("guard-scan hash-text", () => {
  it("prints the hash that exceptions have", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hash-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "text.txt");
    await writeFile(file, `${TEXT}\n`);
    const env = { GUARD_EXCEPTIONS_KEY: KEY };
    const given = await guardScan(["hash-text", TEXT], env);
    expect(given.out).toMatch(/^hmac-sha256:[0-9a-f]{64}\n$/);
    expect(await guardScan(["hash-text", "--file", file], env)).toEqual(given);
    expect((await guardScan(["hash-text", TEXT], { GUARD_EXCEPTIONS_KEY: "ef".repeat(32) })).out).not.toBe(given.out);
  });

  it("needs a key and a text", async () => {
    const without = await guardScan(["hash-text", TEXT], { GUARD_EXCEPTIONS_KEY: "" });
    expect(without).toMatchObject({ code: 2, out: expect.stringContaining("GUARD_EXCEPTIONS_KEY: is not set") });
    expect((await guardScan(["hash-text", " "], { GUARD_EXCEPTIONS_KEY: KEY })).code).toBe(2);
  });

  it("has no key in common with hashes of a program without one", () => {
    expect(new Exceptions().hashOf(TEXT)).not.toBe(new Exceptions().hashOf(TEXT));
  });
});
