import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { configFile } from "../../src/cli/config-path.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-config-"));
const before = process.cwd();
const file = (name: string) => {
  writeFileSync(join(folder, name), "");
  return name;
};
process.chdir(folder);
afterEach(() => rmSync("scanners.yml", { force: true }));
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

describe("the configuration file", () => {
  it("is that of the command line, CONFIG_FILE, scanners.yml or guard, in this order", () => {
    const [a, b] = [file("a.yml"), file("b.yml")];
    const env = { CONFIG_FILE: b };
    expect(configFile(undefined, undefined, {})).toMatchObject({ from: "embedded" });
    expect(configFile(undefined, undefined, { CONFIG_FILE: "" })).toMatchObject({ from: "embedded" });
    file("scanners.yml");
    expect(configFile(undefined, undefined, {})).toEqual({ path: "scanners.yml", from: "current folder" });
    expect(configFile(undefined, undefined, env)).toEqual({ path: b, from: "CONFIG_FILE" });
    expect(configFile(undefined, a, env)).toEqual({ path: a, from: "argument" });
    expect(configFile(a, undefined, env)).toEqual({ path: a, from: "--config" });
  });

  it("has no fallback if the named file is missing", () => {
    file("scanners.yml");
    expect(() => configFile("no.yml", undefined, {})).toThrow(
      /^there is no file no\.yml \(.*\), which --config names$/,
    );
    expect(() => configFile(undefined, "no.yml", {})).toThrow(/^there is no file no\.yml \(.*no\.yml\)$/);
    expect(() => configFile(undefined, undefined, { CONFIG_FILE: "no.yml" })).toThrow("which CONFIG_FILE names");
  });

  it("is named once only", () => {
    file("a.yml");
    expect(() => configFile("a.yml", "a.yml", {})).toThrow("give --config or a path, not both");
  });
});
