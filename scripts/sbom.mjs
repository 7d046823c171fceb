// Writes the bills of materials of a release into npm/, in CycloneDX's JSON (https://cyclonedx.org/docs/1.5/json/): `npm run sbom`.
// guard-scan.cdx.json lists the packages of npm that users get, as npm itself tells them from the lock file; guard-addon.cdx.json the crates
// that the addon is built from, for all platforms.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = (command, ...args) =>
  execFileSync(command, args, {
    ...{ cwd: root, encoding: "utf8", maxBuffer: 1e9, stdio: ["ignore", "pipe", "inherit"] },
    shell: process.platform === "win32",
  });

/** What users get of npm, without tools for development. */
function ofNpm() {
  return JSON.parse(run("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev"));
}

/** The crates that guard-node is compiled with; those for builds and tests only are left out. */
function ofCargo() {
  const { packages, resolve } = JSON.parse(run("cargo", "metadata", "--format-version", "1", "--locked"));
  const known = new Map(packages.map((crate) => [crate.id, crate]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const top = packages.find(({ name }) => name === "guard-node");
  /** The dependencies of a crate that become part of it: a kind of null is an ordinary dependency. */
  const partsOf = (id) =>
    nodes.get(id).deps.flatMap(({ pkg, dep_kinds }) => (dep_kinds.some(({ kind }) => kind === null) ? [pkg] : []));
  const reached = new Set([top.id]);
  // A set goes on with what is added to it.
  for (const id of reached) for (const part of partsOf(id)) reached.add(part);
  const checksums = checksumsOf(readFileSync(join(root, "Cargo.lock"), "utf8"));
  const ref = (id) => `pkg:cargo/${known.get(id).name}@${known.get(id).version}`;
  const component = (id) => {
    const { name, version, license, repository } = known.get(id);
    const sha256 = checksums.get(`${name}@${version}`);
    return {
      ...{ "bom-ref": ref(id), type: "library", name, version, purl: ref(id) },
      // Old crates write a slash where SPDX has OR.
      ...(license ? { licenses: [{ expression: license.replaceAll(/ ?\/ ?/g, " OR ") }] } : {}),
      ...(sha256 ? { hashes: [{ alg: "SHA-256", content: sha256 }] } : {}),
      ...(repository ? { externalReferences: [{ type: "vcs", url: repository }] } : {}),
    };
  };
  const ids = [...reached].sort();
  return {
    ...{ bomFormat: "CycloneDX", specVersion: "1.5", version: 1 },
    metadata: { component: component(top.id) },
    components: ids.filter((id) => id !== top.id).map(component),
    dependencies: ids.map((id) => ({ ref: ref(id), dependsOn: [...new Set(partsOf(id).map(ref))].sort() })),
  };
}

/** The SHA-256 of the packages of crates that come from the registry, by name and version. */
function checksumsOf(lock) {
  const entries = lock.matchAll(/name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(\w+)"/g);
  return new Map([...entries].map(([, name, version, checksum]) => [`${name}@${version}`, checksum]));
}

mkdirSync(join(root, "npm"), { recursive: true });
for (const [name, bom] of [
  ["guard-scan", ofNpm()],
  ["guard-addon", ofCargo()],
]) {
  const path = join("npm", `${name}.cdx.json`);
  writeFileSync(join(root, path), `${JSON.stringify(bom, null, 2)}\n`);
  console.log(`${path}  ${bom.components.length} components`);
}
