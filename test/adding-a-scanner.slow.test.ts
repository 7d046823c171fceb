import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Follows the steps of CONTRIBUTING.md for a new scanner: one file, and one line in another file. */
function walkThrough() {
  const [, section = ""] = readFileSync(join(root, "CONTRIBUTING.md"), "utf8").split("\n## Add a scanner\n");
  const [text = ""] = section.split("\n## ");
  const [, path = ""] = /For example, `(src\/scanners\/[\w-]+\.ts)`/.exec(text) ?? [];
  const [, file = ""] = /```ts\n(.*?)```/s.exec(text) ?? [];
  const [, line = "", registry = ""] = /Add `(export [^`]+)` to `([^`]+)`/.exec(text) ?? [];
  return { path, file, line, registry };
}

describe("a scanner added as CONTRIBUTING.md describes", () => {
  const folder = mkdtempSync(join(tmpdir(), "guard-scanner-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  const node = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  // The built modules of the copy, not those of this checkout.
  const load = (path: string) => import(/* @vite-ignore */ pathToFileURL(join(folder, path)).href);

  beforeAll(() => {
    for (const path of ["src", "tools", "scripts", "docs", "test/messages/shapes"])
      cpSync(join(root, path), join(folder, path), { recursive: true });
    for (const path of ["package.json", "tsconfig.json", "biome.json"])
      copyFileSync(join(root, path), join(folder, path));
    for (const path of ["node_modules", "native", "models"])
      symlinkSync(join(root, path), join(folder, path), "junction");

    const { path, file, line, registry } = walkThrough();
    expect(file).toContain("defineScanner");
    writeFileSync(join(folder, path), file);
    appendFileSync(join(folder, registry), `${line}\n`);
    // Generated files export the classes. They are made from the built definitions, so the sources must be built twice.
    node("node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
    node("scripts/bundle.mjs");
    node("scripts/tools.mjs", "generate");
    node("node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
    node("scripts/bundle.mjs");
  }, 60_000);

  it("scans, from a list of scanners and by its class", async () => {
    const { createScanner, input, scanPrompt } = await load("dist/index.js");
    const text = "a\nb\nc";
    for (const scanner of [createScanner("input", "LineLimit", { limit: 2 }), new input.LineLimit({ limit: 2 })]) {
      const { isValid, findings } = await scanPrompt([scanner], text);
      expect(isValid).toBe(false);
      expect(findings).toMatchObject({ LineLimit: [{ type: "line-limit", label: "3 of 2 lines" }] });
    }
    expect(() => new input.LineLimit({ limits: 2 })).toThrow("limits: unknown key; did you mean limit?");
  });

  it("passes and fails the example texts of its definition", async () => {
    const { SCANNERS } = await load("dist/scanners/catalog.js");
    const { definition, classes } = SCANNERS.find((scanner: { definition: { type: string } }) => {
      return scanner.definition.type === "LineLimit";
    });
    const { options, passes, fails } = definition.examples;
    const scanner = new classes.input(options);
    for (const text of passes) expect((await scanner.scan(text)).isValid).toBe(true);
    for (const text of fails) expect((await scanner.scan(text)).isValid).toBe(false);
  });

  it("is a type in scanners.yml and its schema", async () => {
    const { loadConfig } = await load("dist/config/index.js");
    const file = join(folder, "guard.yml");
    writeFileSync(file, "output_scanners: [{type: LineLimit, params: {limit: 3}}]\n");
    expect((await loadConfig(file)).outputScanners).toEqual([{ type: "LineLimit", params: { limit: 3 } }]);
    const { definitions } = JSON.parse(read("scanners.schema.json"));
    expect(definitions.LineLimit.properties.limit).toMatchObject({
      default: 100,
      description: "The most lines that pass.",
    });
  });

  it("has a page, types and an entry in the command line", () => {
    expect(read("docs/scanners/line-limit.md")).toMatch(/^# LineLimit\n\nFails texts of more lines than a limit\.$/m);
    expect(read("docs/scanners/README.md")).toContain("[LineLimit](line-limit.md)");
    expect(read("src/scanners/generated/options.ts")).toContain("export interface LineLimitOptions {");
    expect(node("dist/cli/main.js", "scanners")).toMatch(/^LineLimit +prompts, outputs +Fails texts of more lines/m);
    expect(node("dist/cli/main.js", "scanners", "LineLimit")).toContain(
      "limit: whole number of at least 1; default 100",
    );
  });

  it("has a class for inputs and outputs, and scans from the command line", () => {
    for (const side of ["input", "output"]) {
      expect(read(`src/scanners/generated/${side}-scanners.ts`)).toContain("export const LineLimit");
    }
    const scan = (text: string) =>
      node("dist/cli/main.js", "scan", "--scanner", "LineLimit", "--params", '{"limit": 2}', text);
    expect(JSON.parse(scan("One line."))).toMatchObject({ is_valid: true, scanners: { LineLimit: -1 } });
    expect(() => scan("1\n2\n3")).toThrow(expect.objectContaining({ status: 1 }));
  });
});
