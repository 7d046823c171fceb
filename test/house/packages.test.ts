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

// npm prints EBADENGINE, and with --engine-strict it stops, where a package does not support the Node.js that runs it.
// `overrides` and `light-my-request` in package.json exist for this reason; see docs/contributing.md.
describe("the packages that npm installs", () => {
  it("support every version of Node.js that guard supports, where users get them", () => {
    const bad = withEngines
      .filter(([, { dev, engines }]) => !dev && !subset(supported, engines?.node))
      .map(([path, { version, engines }]) => `${path}@${version} wants ${engines?.node}`);
    expect(bad).toEqual([]);
  });

  it.each(["20.19.0", "22.13.0", "24.0.0"])("support Node.js %s, where developers get them", (node) => {
    const bad = withEngines
      .filter(([, { engines }]) => !satisfies(node, engines?.node))
      .map(([path, { version, engines }]) => `${path}@${version} wants ${engines?.node}`);
    expect(bad).toEqual([]);
  });
});

describe("the Python packages", () => {
  const manifest = JSON.parse(read("package.json"));

  it.each(["python", "litellm"])("of integrations/%s have the version of guard", (folder) => {
    const text = read(`integrations/${folder}/pyproject.toml`);
    expect(/^version = "(.*)"$/m.exec(text)?.[1]).toBe(manifest.version);
    // The callback works with the client of its own version.
    for (const [, version] of text.matchAll(/"guard-scan==([^"]*)"/g)) expect(version).toBe(manifest.version);
  });
});
