import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { default: string }>;
};

/** Entry points for processes without scanners: the remote guard, fetch and the SDK wrappers. */
const lightEntries = Object.entries(exports).flatMap(([path, target]) =>
  typeof target === "object" &&
  (["./remote", "./fetch"].includes(path) || target.default.startsWith("./dist/integrations/"))
    ? [join(root, target.default)]
    : [],
);

/** Imports modules in a new process, and returns the CommonJS modules and shared libraries that it loaded. */
function loadedBy(files: readonly string[]): string[] {
  const program = `
    import { createRequire } from "node:module";
    import { pathToFileURL } from "node:url";
    for (const file of process.argv.slice(1)) await import(pathToFileURL(file).href);
    console.log(JSON.stringify([
      ...Object.keys(createRequire(import.meta.url).cache),
      ...process.report.getReport().sharedObjects,
    ]));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program, ...files], {
    encoding: "utf8",
  });
  return JSON.parse(printed);
}

/** Returns a built file and all files that it imports, and everything else that these import. */
function importsOf(entry: string): { files: Set<string>; others: string[] } {
  const files = new Set<string>();
  const others: string[] = [];
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const found = readFileSync(file, "utf8").matchAll(
      /^(?:import|export)\b[^;"]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm,
    );
    for (const [, from, bare, dynamic] of found) {
      const target = (from ?? bare ?? dynamic) as string;
      if (target.startsWith(".")) visit(join(dirname(file), target));
      else others.push(target);
    }
  };
  visit(entry);
  return { files, others };
}

const isAddon = (file: string) => file.startsWith(join(root, "native")) || /guard[\w.-]*\.node$|onnxruntime/.test(file);

describe("entry points without scanners", () => {
  it("load neither the addon nor ONNX Runtime", () => {
    expect(lightEntries.length).toBeGreaterThan(0);
    expect(loadedBy(lightEntries).filter(isAddon)).toEqual([]);
  });

  it("of a remote guard run in browsers: no file of them imports a module of Node.js or a package", () => {
    const { files, others } = importsOf(join(root, "dist/guard/remote/index.js"));
    expect(files.size).toBeGreaterThan(2);
    expect(others).toEqual([]);
    const text = [...files].map((file) => readFileSync(file, "utf8")).join("\n");
    expect(text).not.toMatch(/package\.json|\bBuffer\b|\bsetImmediate\b/);
  });
});

describe("the main entry point", () => {
  it("loads the addon, and other packages only when they are needed", () => {
    const loaded = loadedBy([join(root, "dist/index.js")]);
    expect(loaded.filter(isAddon)).not.toEqual([]);
    // Ajv, jsonc-parser and Fastify, for example, have hundreds of files.
    expect(loaded.filter((file) => /node_modules.*\.c?js$/.test(file))).toEqual([]);
  });
});

describe("the bundled packages", () => {
  it("are listed with their licences", () => {
    const notices = readFileSync(join(root, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    const regions = readdirSync(join(root, "dist"))
      .filter((file) => file.endsWith(".js"))
      .flatMap((file) => [
        ...readFileSync(join(root, "dist", file), "utf8").matchAll(
          /^\/\/.*\bnode_modules\/((?:@[^/\n]+\/)?[^/\n]+)\/.*\.[cm]?js$/gm,
        ),
      ]);
    const packages = new Set(regions.map(([, name]) => name));
    expect(packages).toContain("zod");
    expect(packages).toContain("@fastify/swagger");
    for (const name of packages) expect(notices).toMatch(new RegExp(`^${name} [\\d.]+ \\(.+\\)\\n\\n\\S`, "m"));
  });
});
