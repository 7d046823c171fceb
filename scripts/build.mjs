// Installs the packages, and compiles the addon and the TypeScript. A step runs only if its sources changed since the last time.
// `--profile ci` compiles the addon for tests, in half the time. Tests also accept an addon that was built for release.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAddon } from "./addon.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamps = join(root, "target", "stamps");
const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const libc = process.platform === "linux" ? linuxLibc() : "";
/** The file name that napi gives to the addon of this platform. */
const addon = `guard.${process.platform}-${process.arch}${{ linux: `-${libc}`, win32: "-msvc" }[process.platform] ?? ""}.node`;

function linuxLibc() {
  // Otherwise the report looks up the host names of all open connections.
  process.report.excludeNetwork = true;
  const found = process.report.getReport().header.glibcVersionRuntime ? "gnu" : "musl";
  return process.arch === "arm" ? `${found}eabihf` : found;
}

function files(path) {
  const full = join(root, path);
  if (!statSync(full).isDirectory()) return [full];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * Builds a product, unless it exists and its stamp has the hash of the same sources.
 *
 * @param variants the variants of the product that are accepted. The first one is built.
 */
function step(name, sources, product, build, variants = [""]) {
  const hash = createHash("sha256").update(process.version + process.platform + process.arch + libc);
  for (const file of sources.flatMap(files)) hash.update(file).update(readFileSync(file));
  const digest = hash.digest("hex");
  const stamp = join(stamps, name);
  const products = [product].flat().map((path) => join(root, path));
  const found = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
  if (products.every(existsSync) && variants.some((variant) => found === digest + variant)) return;
  console.error(`guard: ${name}`);
  build();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, digest + variants[0]);
}

function run(command, ...args) {
  // Windows starts npm.cmd only in a shell. A shell would split the paths of other programs at their spaces.
  const shell = process.platform === "win32" && command === npm;
  // Standard output is left to the program that runs after the build.
  execFileSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell });
}

step("install", ["package.json", "package-lock.json", ".npmrc"], "node_modules/typescript/package.json", () =>
  // `npm ci` fails if the lock file lacks optional packages of other platforms, and npm omits those that the registry does not have.
  run(npm, "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"),
);
const profile = process.argv.includes("ci") ? "ci" : "release";
const native = [addon, "index.cjs", "index.d.cts"].map((name) => join("native", name));
step("addon", ["Cargo.toml", "Cargo.lock", "crates"], native, () => buildAddon(root, profile), [
  ` ${profile}`,
  ...(profile === "ci" ? [" release"] : []),
]);
const typescript = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "scripts/bundle.mjs",
  "src",
  "native/index.d.cts",
];
step("typescript", typescript, "dist/index.js", () => {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  run(process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.json");
  run(process.execPath, join(root, "scripts/bundle.mjs"));
  // The web page of the server needs no compilation.
  cpSync(join(root, "src/server/console"), join(root, "dist/server/console"), { recursive: true });
});
