import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { read } from "./markdown.ts";

const require = createRequire(import.meta.url);
const { satisfies, subset } = require("semver");

interface Package {
  readonly version: string;
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}

const lock = JSON.parse(readFileSync(fileURLToPath(new URL("../../package-lock.json", import.meta.url)), "utf8"));
const { "": own, ...installed } = lock.packages as Record<string, Package>;
const supported = own?.engines?.node ?? "";
const withEngines = Object.entries(installed).filter(([, { engines }]) => engines?.node !== undefined);

// npm warns with EBADENGINE, or fails with --engine-strict, if a package does not support the running Node.js.
// `overrides` and `light-my-request` in package.json exist for this reason; see CONTRIBUTING.md.
describe("the packages that npm installs", () => {
  it("support every Node.js version that guard supports, if users install them", () => {
    const bad = withEngines
      .filter(([, { dev, engines }]) => !dev && !subset(supported, engines?.node))
      .map(([path, { version, engines }]) => `${path}@${version} wants ${engines?.node}`);
    expect(bad).toEqual([]);
  });

  it.each(["20.19.0", "22.13.0", "24.0.0"])("support Node.js %s, if developers install them", (node) => {
    const bad = withEngines
      .filter(([, { engines }]) => !satisfies(node, engines?.node))
      .map(([path, { version, engines }]) => `${path}@${version} wants ${engines?.node}`);
    expect(bad).toEqual([]);
  });
});

describe("the other packages", () => {
  const manifest = JSON.parse(read("package.json"));

  it("the crates have the version of guard", () => {
    const [, section = ""] = /^\[workspace\.package\]\n([^[]*)/m.exec(read("Cargo.toml")) ?? [];
    expect(/^version = "(.*)"$/m.exec(section)?.[1]).toBe(manifest.version);
  });

  it.each(["python", "litellm"])("the Python package of integrations/%s has the version of guard", (folder) => {
    const text = read(`integrations/${folder}/pyproject.toml`);
    expect(/^version = "(.*)"$/m.exec(text)?.[1]).toBe(manifest.version);
    // The callback needs the client of its own version.
    for (const [, version] of text.matchAll(/"guard-scan==([^"]*)"/g)) expect(version).toBe(manifest.version);
  });
});
