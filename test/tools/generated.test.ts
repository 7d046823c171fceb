import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { buildScanners, parseConfig } from "../../src/config/index.ts";
import { SCANNERS } from "../../src/scanners/catalog.ts";
import { formatFiles } from "../../tools/generate/format.ts";
import { generatedFiles } from "../../tools/generate/generated-files.ts";
import { kebabCase } from "../../tools/generate/markdown.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = formatFiles(generatedFiles());
const pages = [...files].filter(([path]) => path.startsWith("docs/scanners/") && !path.endsWith("README.md"));

describe("generated files", () => {
  it.each([...files])("%s is up to date", (path, text) => {
    const message = "it is stale: run npm run generate, and commit what it writes";
    expect(readFileSync(join(root, path), "utf8") === text, message).toBe(true);
  });

  it("are the only files in their folders", () => {
    for (const folder of ["docs/scanners", "src/scanners/generated"]) {
      expect(readdirSync(join(root, folder)).filter((file) => !files.has(`${folder}/${file}`))).toEqual([]);
    }
  });

  it("include a page with the name of the scanner's own file", () => {
    for (const { definition } of SCANNERS) {
      const name = kebabCase(definition.type);
      const files = [`${name}.ts`, `${name}/${name}.ts`].filter((file) => existsSync(join(root, "src/scanners", file)));
      expect(files, definition.type).toHaveLength(1);
    }
  });
});

describe("a page", () => {
  const snippets = (text: string, language: string) =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, snippet]) => snippet as string);

  it.each(pages)("%s has valid links", (path, text) => {
    for (const [, target] of text.matchAll(/\]\(([^)]+)\)/g)) {
      expect(existsSync(join(root, dirname(path), target as string)), target).toBe(true);
    }
  });

  it.each(pages)("%s shows a valid configuration file", (_path, text) => {
    const [snippet] = snippets(text, "yaml");
    const { input, output } = buildScanners(parseConfig(snippet as string));
    expect(input.length + output.length).toBeGreaterThan(0);
  });

  it("shows programs that compile", () => {
    const folder = mkdtempSync(join(root, "test/tools/programs-"));
    try {
      for (const [path, text] of pages) {
        const [program] = snippets(text, "ts");
        const name = `${path.replace(/.*\//, "").replace(".md", "")}.ts`;
        writeFileSync(join(folder, name), (program as string).replace('"guard-scan"', '"../../../src/index.ts"'));
      }
      const config = { extends: "../../../tsconfig.test.json", include: ["*.ts"], compilerOptions: { rootDir: root } };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "pipe" });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
