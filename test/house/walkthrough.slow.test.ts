import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fences, read, root } from "./markdown.ts";

/** A copy of the sources, so that the test does not change the repository. */
const copy = mkdtempSync(join(tmpdir(), "guard-walkthrough-"));
afterAll(() => rmSync(copy, { recursive: true }));

function run(script: string, ...args: string[]): string {
  return execFileSync(process.execPath, [join(copy, script), ...args], { cwd: copy, encoding: "utf8" });
}

const compile = () => {
  run("node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
  run("scripts/bundle.mjs");
};

describe("the guide for a new scanner in CONTRIBUTING.md", () => {
  const text = read("CONTRIBUTING.md");
  const source = fences(text).find(({ content }) => content.includes("defineScanner({"))?.content ?? "";
  const [, registration = ""] = /Add `(export .*?)` to `src\/scanners\/registry\.ts`/.exec(text) ?? [];
  const [, file = ""] = /For example, `(src\/scanners\/\S+\.ts)`/.exec(text.replace(/\s+/g, " ")) ?? [];

  beforeAll(() => {
    for (const path of [
      "src",
      "tools",
      "scripts",
      "docs",
      "test/messages/shapes",
      "package.json",
      "tsconfig.json",
      "biome.json",
      ".gitignore",
      "scanners.yml",
    ]) {
      cpSync(join(root, path), join(copy, path), { recursive: true });
    }
    for (const path of ["node_modules", "native", "models"])
      symlinkSync(join(root, path), join(copy, path), "junction");
    // The guide adds one file and one line.
    writeFileSync(join(copy, file), source);
    appendFileSync(join(copy, "src/scanners/registry.ts"), `${registration}\n`);
    compile();
    run("scripts/tools.mjs", "generate");
    compile();
  });

  it("adds a scanner to the configuration and the command line", () => {
    const scan = (text: string) =>
      run("dist/cli/main.js", "scan", "--scanner", "LineLimit", "--params", '{"limit": 2}', text);
    expect(JSON.parse(scan("One line."))).toMatchObject({ is_valid: true, scanners: { LineLimit: -1 } });
    expect(() => scan("1\n2\n3")).toThrow(expect.objectContaining({ status: 1 }));
  });

  it("adds a typed class for prompts and for answers", () => {
    for (const side of ["input", "output"]) {
      const generated = readFileSync(join(copy, `src/scanners/generated/${side}-scanners.ts`), "utf8");
      expect(generated).toContain("export const LineLimit");
    }
    expect(readFileSync(join(copy, "src/scanners/generated/options.ts"), "utf8")).toContain(
      "interface LineLimitOptions",
    );
  });
});
