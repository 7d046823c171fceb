import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { read } from "./markdown.ts";

const require = createRequire(import.meta.url);
const { satisfies, subset } = require("semver");

interface Package {
  readonly version: string;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const lock = JSON.parse(readFileSync(fileURLToPath(new URL("../../package-lock.json", import.meta.url)), "utf8"));
const { "": own, ...installed } = lock.packages as Record<string, Package>;

/** Returns the paths in the lock file of packages and of everything that they depend on. */
function withDependencies(names: readonly string[]): Set<string> {
  const paths = new Set<string>();
  const visit = (name: string, from: string) => {
    const path = pathOf(name, from);
    if (path === undefined || paths.has(path)) return;
    paths.add(path);
    const { dependencies, peerDependencies = {}, peerDependenciesMeta } = installed[path] as Package;
    const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta?.[peer]?.optional);
    for (const needed of [...Object.keys(dependencies ?? {}), ...peers]) visit(needed, `${path}/`);
  };
  for (const name of names) visit(name, "");
  return paths;
}

/** Finds a package as Node.js does: in the folder of the package that needs it, then in the folders above. */
function pathOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf("node_modules/", folder.length - 2))) {
    const path = `${folder}node_modules/${name}`;
    if (installed[path]) return path;
    if (!folder.includes("node_modules/")) return undefined;
  }
}

const forUsers = withDependencies(Object.keys(own?.dependencies ?? {}));
const supported = own?.engines?.node ?? "";
const withEngines = Object.entries(installed).filter(([, { engines }]) => engines?.node !== undefined);

// npm warns with EBADENGINE, or fails with --engine-strict, if a package does not support the running Node.js.
// `overrides` and `light-my-request` in package.json exist for this reason; see CONTRIBUTING.md.
describe("the packages that npm installs", () => {
  it("are at most 58, so that an install with guard and its platform package has at most 60", () => {
    expect(forUsers.size).toBeGreaterThan(40);
    expect(forUsers.size).toBeLessThanOrEqual(58);
  });

  it("support every Node.js version that guard supports, if users install them, also for optional features", () => {
    const optional = withDependencies(Object.keys(own?.peerDependencies ?? {}));
    expect(optional).toContain("node_modules/ioredis");
    const bad = withEngines
      .filter(([path, { engines }]) => (forUsers.has(path) || optional.has(path)) && !subset(supported, engines?.node))
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
