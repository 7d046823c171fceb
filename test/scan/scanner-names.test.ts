import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { scannerTypes } from "../../src/scanners/catalog.ts";
import { kebabCase } from "../../tools/generate/markdown.ts";

const src = fileURLToPath(new URL("../../src/", import.meta.url));
const types = [...new Set([...scannerTypes("input"), ...scannerTypes("output")])];

/** Files that consist of names of scanners: the registry, generated files, and examples of the HTTP API. */
const OF_NAMES = /^(scanners\/registry\.ts|scanners\/generated\/|server\/schemas\/)/;

/**
 * The code of a file without its comments, because comments may name scanners. "JSON" is removed too, because it is a value of
 * a command's option.
 */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/\bvalue: "JSON"/g, "");
}

describe("the name of a scanner", () => {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !OF_NAMES.test(file));

  it.each(types)("%s occurs in its own file only", (type) => {
    // A scanner is a file, or a folder with what only this scanner needs.
    const name = kebabCase(type);
    const isOwn = (file: string) => file === `scanners/${name}.ts` || file.startsWith(`scanners/${name}/`);
    const quoted = new RegExp(`(["'\`])${type}\\1`);
    // Types may be imported from anywhere, because they do not exist at run time.
    const imported = new RegExp(`from "[./]*(?:scanners/)?(?:${name}/)?${name}\\.ts"`);
    const ofScanners = new RegExp(`from "[./]*scanners/(?:${name}/)?${name}\\.ts"`);
    const known = files.filter((file) => {
      if (isOwn(file)) return false;
      const code = withoutComments(readFileSync(src + file, "utf8"));
      const values = code.replace(/^(?:ex|im)port type .*$/gm, "");
      // Other rooms have files of the same names, such as messages/tool-definitions.ts.
      const isImported = file.startsWith("scanners/") ? imported.test(values) : ofScanners.test(values);
      return isImported || quoted.test(code);
    });
    expect(known).toEqual([]);
  });
});
