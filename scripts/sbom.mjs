// `npm run sbom` writes the bills of materials of a release into npm/, as CycloneDX JSON (https://cyclonedx.org/docs/1.5/json/).
// guard-scan.cdx.json lists the npm packages that users install, and guard-addon.cdx.json the crates of the addon on all platforms.
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

/** Lists the npm packages that users install, without development dependencies. */
function npmBom() {
  return JSON.parse(run("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev"));
}

/** Lists the crates that are compiled into the addon, without those for builds and tests. */
function cargoBom() {
  const { packages, resolve } = JSON.parse(run("cargo", "metadata", "--format-version", "1", "--locked"));
  const known = new Map(packages.map((crate) => [crate.id, crate]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const top = packages.find(({ name }) => name === "guard-node");
  // A normal dependency has the kind null.
  const partsOf = (id) =>
    nodes.get(id).deps.flatMap(({ pkg, dep_kinds }) => (dep_kinds.some(({ kind }) => kind === null) ? [pkg] : []));
  const reached = new Set([top.id]);
  // The loop also visits the crates that are added to the set.
  for (const id of reached) for (const part of partsOf(id)) reached.add(part);
  const checksums = checksumsOf(readFileSync(join(root, "Cargo.lock"), "utf8"));
  const ref = (id) => `pkg:cargo/${known.get(id).name}@${known.get(id).version}`;
  const component = (id) => {
    const { name, version, license, repository } = known.get(id);
    const sha256 = checksums.get(`${name}@${version}`);
    return {
      ...{ "bom-ref": ref(id), type: "library", name, version, purl: ref(id) },
      // Old crates separate licences by a slash, SPDX by OR.
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

/** Returns the SHA-256 hashes of crates from the registry, keyed by `name@version`. */
function checksumsOf(lock) {
  const entries = lock.matchAll(/name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(\w+)"/g);
  return new Map([...entries].map(([, name, version, checksum]) => [`${name}@${version}`, checksum]));
}

mkdirSync(join(root, "npm"), { recursive: true });
for (const [name, bom] of [
  ["guard-scan", npmBom()],
  ["guard-addon", cargoBom()],
]) {
  const path = join("npm", `${name}.cdx.json`);
  writeFileSync(join(root, path), `${JSON.stringify(bom, null, 2)}\n`);
  console.log(`${path}  ${bom.components.length} components`);
}
